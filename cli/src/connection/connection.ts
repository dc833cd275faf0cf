import { ADDRESS_PATTERNS, type Scope } from '../gateway-rules.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { Credential, type CredentialSource } from './credential.ts';
import {
  openFileWarning,
  profilePath,
  readProfileFile,
  type Profile,
} from '../profiles/profile-file.ts';

/** Where the gateway of `npm run local` is. */
export const DEFAULT_URL = 'http://127.0.0.1:8787';

/** Which gateway, and as whom. */
export interface Connection {
  /** Without a slash at its end. */
  url: string;
  /** Undefined where nothing names one: the gateway takes its own. */
  tenant: string | undefined;
  credential: Credential | undefined;
  /** What the profile of the credential says that it is meant for. */
  neededScopes: ReadonlySet<Scope> | undefined;
  /** Where address and tenant come from, in words. */
  urlFrom: string;
  warnings: string[];
}

/** The options that every command which asks a gateway has. */
export interface ConnectionFlags {
  url?: string;
  key?: string;
  keyFile?: string;
  tenant?: string;
  profile?: string;
  config?: string;
}

/** One place of several that may name the gateway; the first that does counts. */
interface Layer {
  from: string;
  url: string | undefined;
  tenant: string | undefined;
  credential: CredentialSource | undefined;
  profile?: Profile;
}

/**
 * Flags count before a profile that a flag names, that before the environment, and that before the
 * profile that the environment or the file itself names. Throws a usage error.
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
  const source = byKey?.credential;
  const credential = source && (await Credential.read(source, context.stdin));
  const warnings = [credential?.warning];
  // A key of the environment, and an address of another place: that may be meant, and may not.
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
    // What `npm run local` prints for other shells, and what agents are given.
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

/** A key that is given together with an address must not go to another address. */
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

/** Without a slash at its end. Throws a usage error, which does not repeat it. */
export function checkedUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.username === '' && url.password === '' && url.search === '' && !url.hash;
  if (!url || !isBare || !/^https?:$/.test(url.protocol)) {
    // Not repeated: an address with a password in it is one of the wrong ones.
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
