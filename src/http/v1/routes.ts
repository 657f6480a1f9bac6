/** Every route of the REST surface, in the order of SPEC's table. */
import type { Route } from './route.ts';

export const ROUTES: readonly Route[] = [];
