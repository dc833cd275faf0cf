export interface ChildWish {
  type: string;
  /** Without it the gateway creates one. */
  id?: string;
}

export interface ReplyPlan {
  words: string[];
  /** An entity to spawn before the first word. */
  child?: ChildWish;
}

const MAX_COUNT = 1_000;

const HELP =
  'I answer without a model. Ask me to "count to 10", "what time is it", or "spawn child echo"; ' +
  'anything else I say back to you. You may interrupt, pause, resume or archive me meanwhile.';

interface Rule {
  pattern: RegExp;
  reply: (match: RegExpExecArray, now: Date) => { text: string; child?: ChildWish };
}

/** The first rule with a matching pattern decides. */
const RULES: Rule[] = [
  {
    pattern: /^spawn child\b(?:\s+([A-Za-z][\w.-]*))?(?:\s+([A-Za-z0-9][\w.~:@-]*))?/i,
    reply: ([, type = 'assistant', id]) => ({
      text: `I have a child of type ${type} now:`,
      child: id === undefined ? { type } : { type, id },
    }),
  },
  { pattern: /\bcount to (\d{1,9})\b/i, reply: ([, limit]) => ({ text: countTo(Number(limit)) }) },
  {
    pattern: /\bwhat time\b|\bthe time\b/i,
    reply: (_, now) => ({ text: `It is ${now.toISOString().slice(11, 19)} UTC.` }),
  },
  { pattern: /^(help|\?)$|\bhelp me\b/i, reply: () => ({ text: HELP }) },
  { pattern: /^(hi|hello|hey)\b/i, reply: () => ({ text: `Hello! ${HELP}` }) },
];

/** The assistant's reply to a message. It depends only on the arguments, so that tests can predict it. */
export function planReply(message: string, now: Date): ReplyPlan {
  const text = message.trim();
  for (const { pattern, reply } of RULES) {
    const match = pattern.exec(text);
    if (match) {
      const { text: said, child } = reply(match, now);
      return { words: wordsOf(said), ...(child && { child }) };
    }
  }
  const words = wordsOf(text);
  if (words.length === 0) return { words: wordsOf('You sent nothing that I can read.') };
  return { words: ['You', 'said:', ...words] };
}

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function countTo(limit: number): string {
  if (limit === 0) return 'That was quick.';
  if (limit > MAX_COUNT) return `I only count to ${MAX_COUNT}.`;
  return Array.from({ length: limit }, (_, index) => index + 1).join(' ');
}
