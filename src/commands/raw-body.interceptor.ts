import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { letBodyCome, readBody } from '../request/request-body.ts';

/** Reads a command's body, at most up to the cap, as the very bytes that came. */
@Injectable()
export class RawBodyInterceptor implements NestInterceptor {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    letBodyCome(request, context.switchToHttp().getResponse<Response>());
    request.body = await readBody(request, this.config.maxBodyBytes);
    return next.handle();
  }
}
