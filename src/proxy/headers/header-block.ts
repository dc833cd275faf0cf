import { validateHeaderName, validateHeaderValue } from 'node:http';
import { headerLine, type HeaderList } from '../../platform/http/header-list.ts';
import type { JoinedHeaders } from '../../platform/private-parts/joined-head.ts';
import { unusableAnswer } from '../upstream/upstream-error.ts';

/**
 * The headers of an upstream's response for one or more clients: as a list, and checked and joined as they are
 * sent.
 */
export class HeaderBlock implements JoinedHeaders {
  readonly list: HeaderList;
  readonly text: string;
  readonly hasDate: boolean;
  readonly hasLength: boolean;
  readonly hasFraming: boolean;

  /** Throws `upstream_invalid_response` if one of them cannot be sent. */
  constructor(list: HeaderList) {
    let text = '';
    let hasDate = false;
    let hasLength = false;
    let hasFraming = false;
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] ?? '';
      const value = list[i + 1] ?? '';
      validateHeader(name, value);
      text += headerLine(name, value);
      switch (name.toLowerCase()) {
        case 'date':
          hasDate = true;
          break;
        case 'content-length':
          hasLength = true;
          break;
        case 'connection':
        case 'expect':
        case 'trailer':
        case 'transfer-encoding':
          hasFraming = true;
      }
    }
    this.list = list;
    this.text = text;
    this.hasDate = hasDate;
    this.hasLength = hasLength;
    this.hasFraming = hasFraming;
  }
}

function validateHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw unusableAnswer(error);
  }
}
