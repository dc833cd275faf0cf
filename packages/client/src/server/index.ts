export { chatBackEnd, type CallDecision, type ChatBackEndOptions } from './chat-back-end.ts';
export type { ChatUser } from './chat-user.ts';
