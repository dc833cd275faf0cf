import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import type { CommandBody } from './command-body.ts';
import { recordCommand, type CommandRecord } from './command-record.ts';
import { runtimeHeaders, type CommandCall } from './command-headers.ts';
import type { ControlDto } from './dto/control.dto.ts';
import type { SpawnDto } from './dto/spawn.dto.ts';
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

  spawn(body: CommandBody<SpawnDto>, call: CommandCall): Promise<CommandOutcome> {
    const record = recordCommand(call.context, 'spawn');
    const { type, id = this.newId(type, call) } = body.dto;
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('spawn', address, { bytes: body.bytes, type: JSON_TYPE }, call, record);
  }

  send(type: string, id: string, body: Buffer, call: CommandCall): Promise<CommandOutcome> {
    const record = recordCommand(call.context, 'send');
    const address = entityAddress(this.config.tenant, type, id);
    const content = { bytes: body, type: call.contentType || JSON_TYPE };
    return this.deliver('wake', address, content, call, record);
  }

  control(
    type: string,
    id: string,
    body: CommandBody<ControlDto>,
    call: CommandCall,
  ): Promise<CommandOutcome> {
    const record = recordCommand(call.context, body.dto.verb);
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('control', address, { bytes: body.bytes, type: JSON_TYPE }, call, record);
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
