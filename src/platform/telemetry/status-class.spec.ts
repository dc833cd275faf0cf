import { describe, expect, it } from '@jest/globals';
import { statusClassLabel } from './status-class.ts';

describe('statusClassLabel', () => {
  it.each([
    [undefined, 'none'],
    [100, '1xx'],
    [200, '2xx'],
    [304, '3xx'],
    [499, '4xx'],
    [599, '5xx'],
    // RFC 9110 §15: an upstream may say these, and whoever does not know them takes them for 5xx.
    [600, '5xx'],
    [999, '5xx'],
  ])('takes %s for %s', (status, label) => {
    expect(statusClassLabel(status)).toBe(label);
  });
});
