/** Every route of the REST surface, in the order of SPEC's table. */
import { AUDIT_ROUTES } from './audit.ts';
import { FIREWALL_ROUTES } from './firewall.ts';
import type { Route } from './route.ts';
import { TOKEN_ROUTES } from './tokens.ts';

export const ROUTES: readonly Route[] = [...TOKEN_ROUTES, ...FIREWALL_ROUTES, ...AUDIT_ROUTES];
