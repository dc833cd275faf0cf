import type { OnModuleDestroy } from '@nestjs/common';
import type { StateMetric } from '../metrics/state-metric.ts';
import type { SecretList } from './secret-list.ts';

/** The lists of secrets that have a file, for the readiness and the metrics, and until when their files are read. */
export class SecretFiles implements OnModuleDestroy {
  private readonly lists: Pick<SecretList<unknown>, 'name' | 'isFileGood' | 'stop'>[] = [];

  /** Adds a list, if it has a file, and returns it. */
  add<Entry>(list: SecretList<Entry>): SecretList<Entry> {
    if (list.hasFile) this.lists.push(list);
    return list;
  }

  onModuleDestroy(): void {
    for (const list of this.lists) list.stop();
  }

  /** By its setting, whether each file was good when it was last read. */
  get areGood(): Record<string, boolean> {
    return Object.fromEntries(this.lists.map(({ name, isFileGood }) => [name, isFileGood]));
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_secret_file_good',
      help: 'Whether a file of keys or secrets was good when it was last read; 0: the list from before is in use.',
      label: 'setting',
      read: () =>
        Object.fromEntries(
          this.lists.map(({ name, isFileGood }) => [name, Number(isFileGood)] as const),
        ),
    },
  ];
}
