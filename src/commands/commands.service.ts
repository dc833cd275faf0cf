import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { parseCommandBody } from './command-body.ts';
import type { CommandRecord } from './command-record.ts';
import type { CommandVerb } from './command-verb.ts';
import { runtimeHeaders, type CommandCall } from './command-headers.ts';
import { ControlDto } from './dto/control.dto.ts';
import { SpawnDto, tenantProblems } from './dto/spawn.dto.ts';
import {
  entityAddress,
  entityUrl,
  objectKey,
  timelinePath,
  type EntityAddress,
} from './entity-address.ts';
import { RuntimeClient, type RuntimeCommand } from './runtime-client.ts';
import { derivedId, freshId } from './spawn-id.ts';

const JSON_TYPE = 'application/json';

/** The body of a 202. */
export interface CommandResponse {
  url: string;
  streamPath: string;
  streamUrl: string;
  restate: { invocationId: string };
}

/** Turns commands into one-way durable sends. */
@Injectable()
export class CommandsService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly runtime: RuntimeClient,
  ) {}

  async spawn(bytes: Buffer, call: CommandCall): Promise<CommandResponse> {
    const { tenant } = this.config;
    const dto = parseCommandBody(bytes, SpawnDto, (spawn) => tenantProblems(spawn, tenant));
    const { type, id = this.newId(type, call) } = dto;
    const address = entityAddress(tenant, type, id);
    return this.deliver('spawn', 'spawn', address, { bytes, type: JSON_TYPE }, call);
  }

  send(type: string, id: string, bytes: Buffer, call: CommandCall): Promise<CommandResponse> {
    const address = entityAddress(this.config.tenant, type, id);
    const content = { bytes, type: call.contentType || JSON_TYPE };
    return this.deliver('send', 'wake', address, content, call);
  }

  async control(
    type: string,
    id: string,
    bytes: Buffer,
    call: CommandCall,
  ): Promise<CommandResponse> {
    const { verb } = parseCommandBody(bytes, ControlDto);
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver(verb, 'control', address, { bytes, type: JSON_TYPE }, call);
  }

  private newId(type: string, { idempotencyKey }: CommandCall): string {
    return idempotencyKey === undefined
      ? freshId()
      : derivedId(this.config.tenant, type, idempotencyKey);
  }

  private async deliver(
    verb: CommandVerb,
    handler: RuntimeCommand['handler'],
    address: EntityAddress,
    content: { bytes: Buffer; type: string },
    call: CommandCall,
  ): Promise<CommandResponse> {
    const { context } = call;
    const url = entityUrl(address);
    const record: CommandRecord = { verb, entityUrl: url };
    context.command = record;
    context.attributes = entityAttributes(address, context);
    const { invocationId, isReplay } = await this.runtime.send({
      entity: url,
      service: address.type,
      key: objectKey(this.config.runtime.keyTemplate, address),
      handler,
      body: content.bytes,
      headers: runtimeHeaders(address, call, content.type),
      isRepeatable: call.idempotencyKey !== undefined,
      clientHasGone: call.clientHasGone,
      context,
    });
    context.attributes = { ...context.attributes, 'gateway.invocation.id': invocationId };
    record.isReplay = isReplay;
    const streamPath = timelinePath(address);
    return { url, streamPath, streamUrl: `/streams${streamPath}`, restate: { invocationId } };
  }
}

/** The type of the entity for the span. It could be an API key that somebody took for the name of a type. */
function entityAttributes(
  { type }: EntityAddress,
  { paths }: CommandCall['context'],
): Record<string, string> {
  return paths.of(`/${type}`) === `/${type}` ? { 'gateway.entity.type': type } : {};
}
