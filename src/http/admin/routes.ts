/** Every operation of staff over HTTP. */
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { AdminRoute } from './route.ts';
import { ABUSE_ROUTES } from './routes/abuse.ts';
import { ANNOUNCEMENT_ROUTES } from './routes/announcements.ts';
import { APPROVAL_ROUTES } from './routes/approvals.ts';
import { CATALOGUE_ROUTES } from './routes/catalogue.ts';
import { COIN_ROUTES } from './routes/coins.ts';
import { COUPON_ROUTES } from './routes/coupons.ts';
import { CUSTOMER_RECORD_ROUTES } from './routes/customer-records.ts';
import { CUSTOMER_ROUTES } from './routes/customers.ts';
import { DESK_ROUTES } from './routes/desk.ts';
import { FLOOD_ROUTES } from './routes/floods.ts';
import { HOST_ROUTES } from './routes/hosts.ts';
import { INCIDENT_ROUTES } from './routes/incidents.ts';
import { LEGAL_ROUTES } from './routes/legal.ts';
import { MACHINE_ROUTES } from './routes/machines.ts';
import { MAILING_ROUTES } from './routes/mailings.ts';
import { OPERATION_ROUTES } from './routes/operations.ts';
import { PLAN_ROUTES } from './routes/plans.ts';
import { RULE_ROUTES } from './routes/rules.ts';
import { SERVER_ROUTES } from './routes/servers.ts';
import { SERVICE_ROUTES } from './routes/service.ts';
import { STAFF_ROUTES } from './routes/staff.ts';
import { STOCK_ROUTES } from './routes/stock.ts';
import { TOPUP_ROUTES } from './routes/topups.ts';
import { WORK_ROUTES } from './routes/work.ts';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...SERVICE_ROUTES,
  ...INCIDENT_ROUTES,
  ...RULE_ROUTES,
  ...LEGAL_ROUTES,
  ...CUSTOMER_ROUTES,
  ...CUSTOMER_RECORD_ROUTES,
  ...SERVER_ROUTES,
  ...OPERATION_ROUTES,
  ...WORK_ROUTES,
  ...HOST_ROUTES,
  ...MACHINE_ROUTES,
  ...STOCK_ROUTES,
  ...TOPUP_ROUTES,
  ...DESK_ROUTES,
  ...ABUSE_ROUTES,
  ...FLOOD_ROUTES,
  ...COIN_ROUTES,
  ...COUPON_ROUTES,
  ...ANNOUNCEMENT_ROUTES,
  ...MAILING_ROUTES,
  ...PLAN_ROUTES,
  ...CATALOGUE_ROUTES,
  ...STAFF_ROUTES,
  ...APPROVAL_ROUTES,
];

const BY_ID = new Map(ADMIN_ROUTES.map((route) => [route.id, route]));

export function adminRouteOf(id: StaffOperation): AdminRoute {
  const route = BY_ID.get(id);
  if (!route) throw new Error(`no endpoint performs ${id}`);
  return route;
}
