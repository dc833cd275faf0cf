import {
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/**
 * Answers with `Content-Type: application/json` just so: Express adds a charset to whatever is text,
 * which that media type does not have (RFC 8259 §11).
 */
@Injectable()
export class PlainJsonInterceptor implements NestInterceptor<unknown, StreamableFile> {
  intercept(_: ExecutionContext, next: CallHandler): Observable<StreamableFile> {
    return next
      .handle()
      .pipe(
        map(
          (body) =>
            new StreamableFile(Buffer.from(JSON.stringify(body)), { type: 'application/json' }),
        ),
      );
  }
}
