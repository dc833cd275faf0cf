/** The worse of two states is the one that is told. */
const WORST_FIRST = [
  'no-console',
  'unreachable',
  'refused',
  'failing',
  'missing',
  'connecting',
  'live',
];

const TEXTS = {
  'no-console': () => 'The console itself is not reachable: is npm run local still running?',
  unreachable: (gatewayUrl) => `The gateway at ${gatewayUrl} is unreachable. Trying again…`,
  refused: (_, detail) => `The read token was refused: ${detail}`,
  failing: (_, detail) => `The gateway answers with an error: ${detail}`,
  missing: () => 'Live · the timeline is not there yet',
  connecting: () => 'Connecting…',
  live: () => 'Live',
};

/** The status line: how the reads of this page are going. */
export class Connection {
  #line = document.getElementById('connection');
  #gatewayUrl;
  #parts = new Map();

  constructor(gatewayUrl) {
    this.#gatewayUrl = gatewayUrl;
  }

  /** A token that ended in time is renewed at once: that is no change of state. */
  report(part, news) {
    if (news.state === 'renewing') return;
    this.#parts.set(part, news);
    this.#show();
  }

  forget(part) {
    this.#parts.delete(part);
    this.#show();
  }

  #show() {
    const news = [...this.#parts.values()].sort((a, b) => rank(a) - rank(b))[0];
    if (!news) return;
    const text = TEXTS[news.state](this.#gatewayUrl, news.detail);
    // The same text again would be read aloud again.
    if (this.#line.textContent === text) return;
    this.#line.dataset.state = news.state;
    this.#line.textContent = text;
  }
}

function rank({ state }) {
  return WORST_FIRST.indexOf(state);
}
