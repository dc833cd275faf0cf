import { APIError } from './api-error.ts';
import { parseAnswer, type RequestOptions, type Transport } from './transport.ts';

/** A deployment of agents, as Restate's admin API describes it. It has more fields than these. */
export interface Deployment {
  id: string;
  /** The URL at which Restate reaches it. */
  uri?: string;
  services: ({ name: string } & Record<string, unknown>)[];
  [name: string]: unknown;
}

/** An agent type or another service in its newest revision, as Restate's admin API describes it. */
export interface Service {
  name: string;
  /** `VirtualObject` for agents, or `Service`, `Workflow`. */
  ty: string;
  deployment_id: string;
  handlers: ({ name: string } & Record<string, unknown>)[];
  [name: string]: unknown;
}

/** Options of `deployments.register`. */
export interface RegisterOptions extends RequestOptions {
  /** Replaces the deployment at this address, for development. Running invocations may fail. */
  force?: boolean;
  /** Returns what would be registered, and registers nothing. */
  dryRun?: boolean;
  /** Restate asks and calls the address by HTTP/1.1, for servers such as uvicorn. Default false: HTTP/2. */
  useHttp11?: boolean;
}

/** What `deployments.register` gives. */
export interface RegisteredDeployment extends Deployment {
  /**
   * Whether Restate did not know the address before. Without `force` nothing has changed where it did: the newest deployment of
   * each type serves it, as before.
   */
  isNew: boolean;
}

/** Options of `deployments.remove`. */
export interface RemoveOptions extends RequestOptions {
  /** Restate removes a deployment only by force, and invocations that need it fail. Default false. */
  force?: boolean;
}

/** Restate's answer for one that it knows already is a 200. */
const HTTP_CREATED = 201;

/** The deployments that Restate knows. Needs an API key with the scopes of the registry. */
export class Deployments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lets Restate discover the services at an address, as Restate reaches it. Rejects with an `APIError`. */
  async register(uri: string, options: RegisterOptions = {}): Promise<RegisteredDeployment> {
    const { force = false, dryRun = false, useHttp11 = false, ...request } = options;
    const { status, text } = await this.#transport.request({
      ...request,
      method: 'POST',
      path: '/registry/deployments',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri, force, dry_run: dryRun, use_http_11: useHttp11 }),
      // An unchanged address that is registered twice is one deployment.
      isIdempotent: !force,
    });
    return { ...deployment(parseAnswer(text)), isNew: status === HTTP_CREATED };
  }

  /**
   * Lets Restate ask a deployment from `list` again, as it is registered: with its headers, and by its version of HTTP. It
   * registers nothing. Rejects with an `APIError` if Restate does not reach it, or a TypeError for one without a `uri`.
   */
  async check(deployment: Deployment, options: RequestOptions = {}): Promise<void> {
    const { uri, http_version: version, additional_headers: headers } = deployment;
    if (uri === undefined) throw new TypeError('Only a deployment with a uri can be checked.');
    const asked = { uri, use_http_11: version === 'HTTP/1.1', additional_headers: headers };
    await this.#transport.request({
      ...options,
      method: 'POST',
      path: '/registry/deployments',
      headers: { 'content-type': 'application/json' },
      // Without force Restate answers from what it knows.
      body: JSON.stringify({ ...asked, force: true, dry_run: true }),
      isIdempotent: true,
    });
  }

  /** All deployments. Rejects with an `APIError`. */
  async list(options: RequestOptions = {}): Promise<Deployment[]> {
    const path = '/registry/deployments';
    const call = { ...options, method: 'GET', path, isIdempotent: true };
    const { deployments } = parseAnswer((await this.#transport.request(call)).text);
    if (!Array.isArray(deployments)) throw unusable();
    return deployments.map(deployment);
  }

  /** All services, with their handlers. Rejects with an `APIError`. */
  async services(options: RequestOptions = {}): Promise<Service[]> {
    const path = '/registry/services';
    const call = { ...options, method: 'GET', path, isIdempotent: true };
    const { services } = parseAnswer((await this.#transport.request(call)).text);
    if (!Array.isArray(services)) throw unusable();
    return services as Service[];
  }

  /** Removes a deployment. Rejects with an `APIError`, which has the status 404 if it does not exist. */
  async remove(id: string, { force = false, ...options }: RemoveOptions = {}): Promise<void> {
    const path = `/registry/deployments/${encodeURIComponent(id)}`;
    const query = { force: String(force) };
    await this.#transport.request({
      ...options,
      method: 'DELETE',
      path,
      query,
      isIdempotent: false,
    });
  }
}

function deployment(value: unknown): Deployment {
  const { id, services } = value as Partial<Deployment>;
  if (typeof id !== 'string' || !Array.isArray(services)) throw unusable();
  return value as Deployment;
}

function unusable(): APIError {
  return new APIError("The answer is not that of Restate's admin API.", {
    code: 'invalid_response',
  });
}
