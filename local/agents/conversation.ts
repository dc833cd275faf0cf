import type {
  Control,
  Entity,
  NewEvent,
  ReadMessage,
  Status,
} from '../../packages/client/src/agent/index.ts';

// The state changes of an assistant, without any I/O. Each function changes the entity and returns the events that
// describe the change. The handlers store both together.

export interface Assistant extends Entity {
  /** Messages that wait for their reply, the oldest first. */
  inbox?: Question[];
  /** The current reply. */
  reply?: Reply;
  /** The number of the next step. A step with another number is late and does nothing. */
  nextStep?: number;
}

interface Question {
  /** The number of the message's event. */
  seq: number;
  text: string;
}

interface Reply {
  replyTo: number;
  words: string[];
  wordsSaid: number;
}

/** Both limits bound the state, which is stored with every word. */
const MAX_INBOX = 20;
const MAX_TEXT_LENGTH = 2_000;

type RequestRef = { requestId?: string };

export function receive(self: Assistant, read: ReadMessage, request: RequestRef): NewEvent[] {
  const inbox = (self.inbox ??= []);
  if (self.status === 'archived') return [{ kind: 'rejected', reason: 'archived', ...request }];
  if ('problem' in read) return [{ kind: 'error', message: read.problem, ...request }];
  if (inbox.length >= MAX_INBOX) return [{ kind: 'rejected', reason: 'inbox full', ...request }];
  // The number of the message's event, which is written next.
  const seq = self.timeline.nextSeq;
  inbox.push({ seq, text: read.message.text.slice(0, MAX_TEXT_LENGTH) });
  self.status = activity(self);
  return [{ kind: 'message', content: read.message.content, ...request }];
}

export function control(
  self: Assistant,
  { verb, reason }: Control,
  request: RequestRef,
): NewEvent[] {
  if (self.status === 'archived') return [{ kind: 'rejected', reason: 'archived', ...request }];
  const brokenOff: NewEvent[] = [];
  switch (verb) {
    case 'interrupt':
      brokenOff.push(...breakOff(self));
      self.status = activity(self);
      break;
    case 'pause':
      self.status = 'paused';
      break;
    case 'resume':
      self.status = 'idle';
      self.status = activity(self);
      break;
    case 'archive':
      while (self.reply || self.inbox?.length) brokenOff.push(...breakOff(self));
      self.status = 'archived';
      break;
  }
  return [{ kind: 'control', verb, reason, status: self.status, ...request }, ...brokenOff];
}

/** Takes the oldest message from the inbox and begins to say `words` to it. */
export function begin(self: Assistant, words: string[]): void {
  const question = self.inbox?.shift();
  if (question) self.reply = { replyTo: question.seq, words, wordsSaid: 0 };
}

/** Says one word. After the last one it adds the whole reply, and the next message may have its turn. */
export function sayWord(self: Assistant): NewEvent[] {
  const { reply } = self;
  if (!reply) return [];
  const { replyTo, words } = reply;
  const index = reply.wordsSaid;
  const events: NewEvent[] = [{ kind: 'word', replyTo, index, text: words[index] }];
  reply.wordsSaid += 1;
  if (reply.wordsSaid >= words.length) {
    events.push({ kind: 'reply', replyTo, content: [{ type: 'text', text: words.join(' ') }] });
    delete self.reply;
    self.status = activity(self);
  }
  return events;
}

/** Ends the current reply, or the one that would begin next. */
function breakOff(self: Assistant): NewEvent[] {
  const { reply } = self;
  if (reply) {
    delete self.reply;
    return [{ kind: 'interrupted', replyTo: reply.replyTo, wordsSaid: reply.wordsSaid }];
  }
  const question = self.inbox?.shift();
  return question ? [{ kind: 'interrupted', replyTo: question.seq, wordsSaid: 0 }] : [];
}

function activity(self: Assistant): Status {
  if (self.status === 'paused') return 'paused';
  return self.reply || self.inbox?.length ? 'running' : 'idle';
}
