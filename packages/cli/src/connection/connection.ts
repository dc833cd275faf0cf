import { ADDRESS_PATTERNS, type Scope } from '../gateway-rules.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { Credential, type CredentialSource } from './credential.ts';
import { allowsHttp, refusePlainHttp } from './plain-http.ts';
import {
  openFileWarning,
  profilePath,
  readProfileFile,
  type Profile,
} from '../profiles/profile-file.ts';

/** The address of the gateway of `npm run local`. */
export const DEFAULT_URL = 'http://127.0.0.1:8787';

/** The gateway and the credential for it. */
export interface Connection {
  /** Without a slash at its end. */
  url: string;
  /** Undefined if nothing names one. The gateway then uses its own. */
  tenant: string | undefined;
  credential: Credential | undefined;
  /** The scopes that the profile of the credential expects it to have. */
  neededScopes: ReadonlySet<Scope> | undefined;
  /** The sources of the address and the tenant, in words. */
  urlFrom: string;
  warnings: string[];
}

/** The options of every command that talks to a gateway. */
export interface ConnectionFlags {
  url?: string;
  key?: string;
  keyFile?: string;
  tenant?: string;
  profile?: string;
  config?: string;
  /** Whether a key may go to another machine over plain HTTP. */
  allowHttp?: boolean;
}

/** One of the places that may name the gateway. The first place that does is used. */
interface Layer {
  from: string;
  url: string | undefined;
  tenant: string | undefined;
  credential: CredentialSource | undefined;
  profile?: Profile;
}

/**
 * The order of precedence: flags, a profile that a flag names, the environment, the profile that the environment or
 * the file names. Throws a usage error.
 */
export async function openConnection(
  flags: ConnectionFlags,
  context: CliContext,
): Promise<Connection> {
  const layers = layersOf(flags, context.env);
  const byUrl = layers.find(({ url }) => url !== undefined);
  const byKey = layers.find(({ credential }) => credential !== undefined);
  const url = checkedUrl(byUrl?.url ?? DEFAULT_URL, byUrl?.from ?? 'the default');
  refuseKeyOfElsewhere(byKey, url);
  const isHttpAllowed =
    flags.allowHttp === true || byUrl?.profile?.allowHttp === true || allowsHttp(context.env);
  if (byKey && !isHttpAllowed) refusePlainHttp(url);
  const source = byKey?.credential;
  const credential = source && (await Credential.read(source, context.stdin));
  const warnings = [credential?.warning];
  // The key comes from the environment and the address from another place, which may be a mistake.
  if (byKey && byUrl && byKey.url === undefined && byKey !== layers[0]) {
    warnings.push(
      `the key from ${source?.from} goes to ${url}, which is the address from ${byUrl.from}.`,
    );
  }
  if (byKey?.profile?.key !== undefined) warnings.push(openFileWarning(pathOf(flags, context.env)));
  return {
    url,
    tenant: checkedTenant(layers.find(({ tenant }) => tenant !== undefined)),
    credential,
    neededScopes: byKey?.profile?.scopes,
    urlFrom: byUrl?.from ?? 'the default',
    warnings: warnings.filter((warning) => warning !== undefined),
  };
}

function layersOf(flags: ConnectionFlags, env: CliContext['env']): Layer[] {
  const get = (name: string): string | undefined => env[name] || undefined;
  const named = flags.profile === undefined ? [] : [profileLayer(flags.profile, flags, env)];
  const fallback = flags.profile === undefined ? defaultLayer(flags, env) : [];
  return [
    {
      from: '--url',
      url: flags.url,
      tenant: flags.tenant,
      credential: credentialSource(
        { key: flags.key, keyFile: flags.keyFile },
        { key: '--key', keyFile: '--key-file' },
      ),
    },
    ...named,
    {
      from: 'AGENT_GATEWAY_URL',
      url: get('AGENT_GATEWAY_URL'),
      tenant: get('AGENT_GATEWAY_TENANT'),
      credential: credentialSource(
        { key: get('AGENT_GATEWAY_KEY'), keyFile: get('AGENT_GATEWAY_KEY_FILE') },
        { key: 'AGENT_GATEWAY_KEY', keyFile: 'AGENT_GATEWAY_KEY_FILE' },
      ),
    },
    // The variables that `npm run local` prints for other shells and gives to agents.
    {
      from: 'GATEWAY_URL',
      url: get('GATEWAY_URL'),
      tenant: get('GATEWAY_TENANT'),
      credential: credentialSource(
        { key: get('GATEWAY_API_KEY'), keyFile: undefined },
        { key: 'GATEWAY_API_KEY', keyFile: '' },
      ),
    },
    ...fallback,
  ];
}

function profileLayer(name: string, flags: ConnectionFlags, env: CliContext['env']): Layer {
  const path = pathOf(flags, env);
  const file = readProfileFile(path);
  if (!file) throw usageError(`There is no profile "${name}": ${path} is not there.`);
  const profile = file.profiles.get(name);
  if (!profile) {
    const known = [...file.profiles.keys()].map((other) => `"${other}"`).join(', ');
    throw usageError(`There is no profile "${name}" in ${path}; there is ${known || 'none'}.`);
  }
  const from = `the profile "${name}"`;
  return {
    from,
    url: profile.url,
    tenant: profile.tenant,
    credential: credentialSource(profile, { key: from, keyFile: from }),
    profile,
  };
}

function defaultLayer(flags: ConnectionFlags, env: CliContext['env']): Layer[] {
  const name = env.AGENT_GATEWAY_PROFILE || readProfileFile(pathOf(flags, env))?.defaultName;
  return name === undefined ? [] : [profileLayer(name, flags, env)];
}

function pathOf(flags: ConnectionFlags, env: CliContext['env']): string {
  return flags.config ?? profilePath(env);
}

function credentialSource(
  { key, keyFile }: { key?: string | undefined; keyFile?: string | undefined },
  from: { key: string; keyFile: string },
): CredentialSource | undefined {
  if (key !== undefined && keyFile !== undefined) {
    throw usageError(`${from.key} and ${from.keyFile} are both given: give one of them.`);
  }
  if (key !== undefined) return { kind: 'text', text: key, from: from.key };
  if (keyFile === '-') return { kind: 'stdin', from: 'the standard input' };
  if (keyFile !== undefined) return { kind: 'file', path: keyFile, from: `the file ${keyFile}` };
  return undefined;
}

/** A key that was set together with an address must not be sent to another address. */
function refuseKeyOfElsewhere(layer: Layer | undefined, url: string): void {
  if (layer?.url === undefined) return;
  const own = checkedUrl(layer.url, layer.from);
  if (new URL(own).origin === new URL(url).origin) return;
  const whose = layer.profile
    ? `the profile "${layer.profile.name}"`
    : (layer.credential?.from ?? layer.from);
  throw usageError(
    `The key of ${whose} is for ${own}, not for ${url}.`,
    'Give a key for that address too, such as with --key-file.',
  );
}

/** The URL without a slash at its end. Throws a usage error that does not contain it. */
export function checkedUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.username === '' && url.password === '' && url.search === '' && !url.hash;
  if (!url || !isBare || !/^https?:$/.test(url.protocol)) {
    // The message does not contain the URL, because a URL with a password is one of the invalid ones.
    throw usageError(
      `The address from ${from} must be an http or https URL without user name, query or fragment, ` +
        'such as https://gateway.example.',
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function checkedTenant(layer: Layer | undefined): string | undefined {
  const tenant = layer?.tenant;
  if (tenant !== undefined && !ADDRESS_PATTERNS.tenant.test(tenant)) {
    throw usageError('The tenant must be 1 to 63 letters, digits, underscores or hyphens.');
  }
  return tenant;
}
