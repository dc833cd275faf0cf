import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { OpenCommandLimit } from './open-command-limit.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { BodyRoom, letBodyCome, readBody } from '../platform/server/request-body.ts';

/**
 * Reads a command's body up to the cap, and keeps its exact bytes. The command counts as open, and its body in the budget, from
 * before the body is read until the command is answered. That is so even if the client disconnects, because a command with a
 * key is still sent then.
 */
@Injectable()
export class OpenCommandInterceptor implements NestInterceptor {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly limit: OpenCommandLimit,
    private readonly held: HeldBytes,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    this.limit.enter();
    const room = new BodyRoom(this.held);
    const end = (): void => {
      room.release();
      this.limit.leave();
    };
    try {
      letBodyCome(request, context.switchToHttp().getResponse<Response>());
      request.body = await readBody(request, this.config.maxBodyBytes, room);
    } catch (error) {
      end();
      throw error;
    }
    return next.handle().pipe(finalize(end));
  }
}
