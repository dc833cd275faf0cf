import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { HeaderList } from './header-list.ts';
import { invalidUpstreamResponse } from './upstream-error.ts';

/** The headers of an upstream's answer, which one client gets or several: as a list, and as they go out. */
export class HeaderBlock {
  readonly list: HeaderList;
  private joined: JoinedHeaders | undefined;

  constructor(list: HeaderList) {
    this.list = list;
  }

  /** Made once. Throws `upstream_invalid_response` where one cannot be sent. */
  get lines(): JoinedHeaders {
    return (this.joined ??= joinedHeaders(this.list));
  }
}

export interface JoinedHeaders {
  /** One line each, with its line end. */
  text: string;
  hasDate: boolean;
  hasLength: boolean;
  /** Whether one is there that tells Node how to send the answer. */
  hasFraming: boolean;
}

function joinedHeaders(list: HeaderList): JoinedHeaders {
  const joined = { text: '', hasDate: false, hasLength: false, hasFraming: false };
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? '';
    const value = list[i + 1] ?? '';
    validateHeader(name, value);
    joined.text += headerLine(name, value);
    switch (name.toLowerCase()) {
      case 'date':
        joined.hasDate = true;
        break;
      case 'content-length':
        joined.hasLength = true;
        break;
      case 'connection':
      case 'expect':
      case 'trailer':
      case 'transfer-encoding':
        joined.hasFraming = true;
    }
  }
  return joined;
}

function validateHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw invalidUpstreamResponse(error);
  }
}

export function headerLine(name: string, value: string): string {
  return `${name}: ${value}\r\n`;
}
