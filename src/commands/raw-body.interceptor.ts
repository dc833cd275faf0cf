import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { BodyRoom, letBodyCome, readBody } from '../platform/server/request-body.ts';

/** Reads a command's body up to the cap, and keeps its exact bytes. */
@Injectable()
export class RawBodyInterceptor implements NestInterceptor {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly held: HeldBytes,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    letBodyCome(request, response);
    const room = new BodyRoom(this.held);
    try {
      request.body = await readBody(request, this.config.maxBodyBytes, room);
    } catch (error) {
      room.release();
      throw error;
    }
    // The room is not released when the client disconnects, because the body may still have to be sent to the
    // runtime.
    return next.handle().pipe(finalize(() => room.release()));
  }
}
