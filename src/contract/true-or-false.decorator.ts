import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsBoolean } from 'class-validator';

/** A boolean setting. Only `true` and `false` are valid, not `0` or `1`. */
export function TrueOrFalse(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: TransformFnParams): unknown =>
      value === 'true' || value === 'false' ? value === 'true' : value,
    ),
    IsBoolean({ message: 'must be true or false' }),
  );
}
