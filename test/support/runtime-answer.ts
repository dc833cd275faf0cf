import type { RuntimeAnswer } from '../../src/commands/runtime-attempt.ts';
import { headerValue, type HeaderList } from '../../src/platform/http/header-list.ts';

/** A complete response of the runtime. */
export function runtimeAnswer(status: number, headers: HeaderList, text: string): RuntimeAnswer {
  return { status, text, header: (lowerName) => headerValue(headers, lowerName) };
}
