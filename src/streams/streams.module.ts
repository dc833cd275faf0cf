import { Module } from '@nestjs/common';
import { ProxyModule } from '../proxy/proxy.module.ts';
import { StreamsController } from './streams.controller.ts';

@Module({ imports: [ProxyModule], controllers: [StreamsController] })
export class StreamsModule {}
