import { Module } from '@nestjs/common';
import { ProxyModule } from '../proxy/proxy.module.ts';
import { ShapesController } from './shapes.controller.ts';

@Module({ imports: [ProxyModule], controllers: [ShapesController] })
export class ShapesModule {}
