import type { OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import type { GatewayConfig, SecretSource } from '../../platform/config/gateway-config.ts';
import { SecretList } from '../../platform/config/secret-list.ts';
import { credentialParser, type CredentialVariable } from '../../platform/config/secret-source.ts';

/** The credential for an upstream, and its setting. */
export interface UpstreamCredential {
  /** The current value. It may come from a file that is read again. */
  readonly value: string | undefined;
  readonly setting: CredentialVariable | `${CredentialVariable}_FILE`;
}

/** The credential of each upstream. */
export interface UpstreamCredentials {
  runtimeIngress: UpstreamCredential;
  runtimeAdmin: UpstreamCredential;
  history: UpstreamCredential;
  sync: UpstreamCredential;
}

/** The credentials of the upstreams in the settings, without those in files. */
export function givenCredentials(config: GatewayConfig): UpstreamCredentials {
  const { runtimeIngress, runtimeAdmin, history, sync } = sourcesOf(config);
  const given = ([name, source]: Source): UpstreamCredential =>
    credential(name, source, { entries: source.inline });
  return {
    runtimeIngress: given(runtimeIngress),
    runtimeAdmin: given(runtimeAdmin),
    history: given(history),
    sync: given(sync),
  };
}

/** The credentials of the upstreams. Their files are read again while the gateway runs. */
export class RotatingCredentials implements UpstreamCredentials, OnModuleDestroy {
  private constructor(
    readonly runtimeIngress: UpstreamCredential,
    readonly runtimeAdmin: UpstreamCredential,
    readonly history: UpstreamCredential,
    readonly sync: UpstreamCredential,
    /** For the management port, which reports files that have become invalid. */
    readonly lists: readonly SecretList<string>[],
  ) {}

  static async open(config: GatewayConfig, logger: Logger): Promise<RotatingCredentials> {
    const { runtimeIngress, runtimeAdmin, history, sync } = sourcesOf(config);
    const lists: SecretList<string>[] = [];
    const open = async ([name, source]: Source): Promise<UpstreamCredential> => {
      const parse = credentialParser(name);
      const list = await SecretList.open(`${name}_FILE`, source, parse, logger);
      lists.push(list);
      return credential(name, source, list);
    };
    return new RotatingCredentials(
      await open(runtimeIngress),
      await open(runtimeAdmin),
      await open(history),
      await open(sync),
      lists,
    );
  }

  onModuleDestroy(): void {
    for (const list of this.lists) list.onModuleDestroy();
  }
}

type Source = readonly [CredentialVariable, SecretSource<string>];

function sourcesOf({
  runtime,
  history,
  sync,
}: GatewayConfig): Record<keyof UpstreamCredentials, Source> {
  return {
    runtimeIngress: ['GATEWAY_RUNTIME_INGRESS_TOKEN', runtime.ingressToken],
    runtimeAdmin: ['GATEWAY_RUNTIME_ADMIN_TOKEN', runtime.adminToken],
    history: ['GATEWAY_HISTORY_TOKEN', history.token],
    sync: ['GATEWAY_SYNC_SECRET', sync.secret],
  };
}

function credential(
  name: CredentialVariable,
  { file }: SecretSource<string>,
  list: { readonly entries: readonly string[] },
): UpstreamCredential {
  return {
    get value() {
      return list.entries[0];
    },
    setting: file === undefined ? name : `${name}_FILE`,
  };
}
