/** All scenarios, by subject. */
import type { Scenario } from '../core/explore.ts';
import { MONEY } from './money.ts';

export const SUBJECTS: Readonly<Record<string, readonly Scenario[]>> = { money: MONEY };
