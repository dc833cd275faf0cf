import { UnorderedList } from '../collections/unordered-list.ts';
import type { LiveMode } from '../http/client-request.ts';
import type { RequestContext } from './request-context.ts';

/** The open requests, for the drain and for limits. */
export class OpenRequests extends UnorderedList<RequestContext> {
  /** The reads that wait for new data: parked long-polls and open event streams. */
  countLive(): Record<LiveMode, number> {
    const counts = { 'long-poll': 0, sse: 0 };
    for (const { live } of this) if (live) counts[live]++;
    return counts;
  }

  /** The open reads, each with its `openRead`. */
  reads(): readonly RequestContext[] {
    return this.snapshot().filter(({ openRead }) => openRead !== undefined);
  }
}
