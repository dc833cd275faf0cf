import { Injectable, type PipeTransform } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import type { FieldError } from '../platform/errors/gateway-error.ts';
import { parseCommandBody, type CommandBody } from './command-body.ts';
import { ControlDto } from './dto/control.dto.ts';
import { SpawnDto } from './dto/spawn.dto.ts';
import { isEntityUrl, isWorkspaceRef } from './entity-address.ts';

/** Validates a spawn body. */
@Injectable()
export class SpawnBodyPipe implements PipeTransform<Buffer, CommandBody<SpawnDto>> {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  transform(bytes: Buffer): CommandBody<SpawnDto> {
    return parseCommandBody(bytes, SpawnDto, (dto) => this.tenantProblems(dto));
  }

  private tenantProblems({ parent, workspaceRef }: SpawnDto): FieldError[] {
    const { tenant } = this.config;
    const errors: FieldError[] = [];
    if (typeof parent === 'string' && !isEntityUrl(parent, tenant)) {
      errors.push({ field: 'parent', message: `must be an entity URL /t/${tenant}/a/<type>/<id>` });
    }
    if (typeof workspaceRef === 'string' && !isWorkspaceRef(workspaceRef, tenant)) {
      errors.push({ field: 'workspaceRef', message: `must be of the form ${tenant}/<name>` });
    }
    return errors;
  }
}

/** Validates a control body. */
@Injectable()
export class ControlBodyPipe implements PipeTransform<Buffer, CommandBody<ControlDto>> {
  transform(bytes: Buffer): CommandBody<ControlDto> {
    return parseCommandBody(bytes, ControlDto);
  }
}
