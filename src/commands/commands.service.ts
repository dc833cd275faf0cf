import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { parseCommandBody } from './command-body.ts';
import { recordCommand, type CommandRecord } from './command-record.ts';
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

export interface CommandOutcome {
  response: CommandResponse;
  isReplay: boolean;
}

/** Turns commands into one-way durable sends. */
@Injectable()
export class CommandsService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly runtime: RuntimeClient,
  ) {}

  async spawn(bytes: Buffer, call: CommandCall): Promise<CommandOutcome> {
    const { tenant } = this.config;
    const dto = parseCommandBody(bytes, SpawnDto, (spawn) => tenantProblems(spawn, tenant));
    const record = recordCommand(call.context, 'spawn');
    const { type, id = this.newId(type, call) } = dto;
    const address = entityAddress(tenant, type, id);
    return this.deliver('spawn', address, { bytes, type: JSON_TYPE }, call, record);
  }

  send(type: string, id: string, body: Buffer, call: CommandCall): Promise<CommandOutcome> {
    const record = recordCommand(call.context, 'send');
    const address = entityAddress(this.config.tenant, type, id);
    const content = { bytes: body, type: call.contentType || JSON_TYPE };
    return this.deliver('wake', address, content, call, record);
  }

  async control(
    type: string,
    id: string,
    bytes: Buffer,
    call: CommandCall,
  ): Promise<CommandOutcome> {
    const record = recordCommand(call.context, parseCommandBody(bytes, ControlDto).verb);
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('control', address, { bytes, type: JSON_TYPE }, call, record);
  }

  private newId(type: string, { idempotencyKey }: CommandCall): string {
    return idempotencyKey === undefined
      ? freshId()
      : derivedId(this.config.tenant, type, idempotencyKey);
  }

  private async deliver(
    handler: RuntimeCommand['handler'],
    address: EntityAddress,
    content: { bytes: Buffer; type: string },
    call: CommandCall,
    record: CommandRecord,
  ): Promise<CommandOutcome> {
    const { context } = call;
    const url = (record.entityUrl = entityUrl(address));
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
    return {
      response: {
        url,
        streamPath,
        streamUrl: `/streams${streamPath}`,
        restate: { invocationId },
      },
      isReplay,
    };
  }
}

/** The type of the entity for the span. It could be an API key that somebody took for the name of a type. */
function entityAttributes(
  { type }: EntityAddress,
  { paths }: CommandCall['context'],
): Record<string, string> {
  return paths.of(`/${type}`) === `/${type}` ? { 'gateway.entity.type': type } : {};
}
