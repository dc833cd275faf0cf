// Types and ids as the gateway takes them, so that they need no encoding in a path.
const AGENT = /([A-Za-z][\w.-]*)\/([A-Za-z0-9][\w.~:@-]*)$/.source;
const URL_PATTERN = new RegExp(`^/t/[\\w-]+/a/${AGENT}`);
const HASH_PATTERN = new RegExp(`^#/${AGENT}`);

/** The agent of an entity URL, `/t/<tenant>/a/<type>/<id>`, or undefined if it is none. */
export function agentOfUrl(url) {
  return agentOf(URL_PATTERN.exec(url));
}

/** The agent of this page's address, `#/<type>/<id>`, or undefined if it names none. */
export function agentOfHash(hash) {
  return agentOf(HASH_PATTERN.exec(hash));
}

function agentOf(match) {
  return match ? { type: match[1], id: match[2] } : undefined;
}

export function hashOf({ type, id }) {
  return `#/${type}/${id}`;
}
