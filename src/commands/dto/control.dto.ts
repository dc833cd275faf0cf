import { IsDefined, IsIn, IsString, ValidateIf } from 'class-validator';

import { CONTROL_VERBS } from '../command-verb.ts';

/** The body of a control command. */
export class ControlDto {
  static readonly fields = ['verb', 'reason'] as const;

  @IsDefined({ message: `is required: one of ${CONTROL_VERBS.join(', ')}` })
  @IsIn(CONTROL_VERBS, {
    message: `must be one of ${CONTROL_VERBS.join(', ')}`,
    context: { code: 'unknown_verb' },
  })
  verb: (typeof CONTROL_VERBS)[number];

  /** Free text. */
  @ValidateIf((dto: ControlDto) => dto.reason !== undefined)
  @IsString({ message: 'must be a string' })
  reason?: string;
}
