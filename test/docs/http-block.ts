import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isAsShown } from './expected-output.ts';

export interface Answer {
  status: number;
  statusText: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Sends the request of a block: a line with method and target, headers, a blank line, a body. */
export async function sendShown(shown: string, baseUrl: string, apiKey: string): Promise<Answer> {
  const { first, headers, body } = messageParts(shown.replaceAll('<API key>', apiKey));
  const [method = '', target = ''] = first.split(' ');
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path: target, headers });
    outgoing.on('error', reject).on('response', (incoming) => {
      text(incoming).then((answered) => {
        const { statusCode: status = 0, statusMessage: statusText = '' } = incoming;
        resolve({ status, statusText, headers: incoming.headers, body: answered });
      }, reject);
    });
    outgoing.end(body);
  });
}

/** The differences between a response and its block: the status, each header that is shown, the body. */
export function answerProblems(shown: string, answer: Answer): string[] {
  const { first, headers, body } = messageParts(shown);
  const problems: string[] = [];
  const status = `HTTP/1.1 ${answer.status} ${answer.statusText}`;
  if (first !== status) problems.push(`${status}, not ${first}`);
  for (const [name, value] of Object.entries(headers)) {
    const said = String(answer.headers[name.toLowerCase()]);
    if (!isAsShown(value, said)) problems.push(`${name}: ${said}, not ${value}`);
  }
  if (!isBodyAsShown(body, answer.body)) problems.push(`${answer.body}\nnot\n${body}`);
  return problems;
}

/** A page may show JSON on several lines. */
function isBodyAsShown(shown: string, said: string): boolean {
  return isAsShown(compact(shown), compact(said));
}

function compact(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

interface MessageParts {
  first: string;
  headers: Record<string, string>;
  body: string;
}

function messageParts(message: string): MessageParts {
  const [head = '', ...rest] = message.trim().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const headers = lines.map((line) => /^([\w-]+): (.*)$/.exec(line)?.slice(1) ?? [line, '']);
  return { first, headers: Object.fromEntries(headers), body: rest.join('\n\n') };
}
