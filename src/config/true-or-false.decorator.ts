import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsBoolean } from 'class-validator';

/** A setting that is on or off, written `true` or `false` and in no other way: `0` is no `false`. */
export function TrueOrFalse(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: TransformFnParams): unknown =>
      value === 'true' || value === 'false' ? value === 'true' : value,
    ),
    IsBoolean({ message: 'must be true or false' }),
  );
}
