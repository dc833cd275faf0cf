import { Global, Module, type DynamicModule } from '@nestjs/common';
import { NameResolver } from './name-resolver.ts';

/** Provides the one resolver of everything that connects to a server by its name. */
@Global()
@Module({})
export class NamesModule {
  static with(names: NameResolver): DynamicModule {
    return {
      module: NamesModule,
      providers: [{ provide: NameResolver, useValue: names }],
      exports: [NameResolver],
    };
  }
}
