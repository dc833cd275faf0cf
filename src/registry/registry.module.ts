import { Module } from '@nestjs/common';
import { ProxyModule } from '../proxy/proxy.module.ts';
import { RegistryController } from './registry.controller.ts';

@Module({ imports: [ProxyModule], controllers: [RegistryController] })
export class RegistryModule {}
