/** The description of an operation of staff over HTTP. The endpoint and the console's forms both run it. */
import type { Static, TObject, TProperties } from 'typebox';
import type { Service } from '../../domain/context.ts';
import type { RegisterHosts } from '../../domain/inventory/hosts.ts';
import type { HostInviter } from '../../domain/inventory/invite-host.ts';
import type { AttemptCounter } from '../../domain/sessions/attempts.ts';
import type { CarryOut } from '../../domain/staff/approvals.ts';
import type { StaffActor } from '../../domain/staff/context.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { SiteSettings } from '../settings.ts';
import type { PathParams } from '../v1/route.ts';

/** How this process reaches machines that become hosts. */
export interface HostAccess {
  readonly register: RegisterHosts;
  readonly inviter: HostInviter;
  /** Ends a simulated host. Absent where hosts are real. */
  readonly endSimulatedHost?: (name: string) => Promise<void>;
}

/** The dependencies of the operator's listener. */
export interface AdminEdge {
  readonly service: Service;
  readonly hosts: HostAccess;
  readonly attempts: AttemptCounter;
  /** Runs an act that a second person approved. */
  readonly carryOut: CarryOut;
  readonly settings: {
    /** The public URL of the console; null: as it listens. `https:` makes the cookie Secure. */
    readonly baseUrl: string | null;
    /** The host's color and marks. */
    readonly site: SiteSettings;
    readonly isUnavailable: (error: unknown) => boolean;
  };
}

export interface AdminCall<Query = unknown, Body = unknown, Params extends object = object>
  extends Pick<AdminEdge, 'service' | 'carryOut'> {
  readonly actor: StaffActor;
  readonly hosts: HostAccess;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** An act that may have to wait for a second person. */
type HeldCall<Body = unknown, Params extends object = object> = Pick<
  AdminCall<unknown, Body, Params>,
  'service' | 'actor' | 'params' | 'body'
>;

interface RouteDefinition {
  readonly id: StaffOperation;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below /admin/v1. */
  readonly path: string;
  /** 200 if omitted. */
  readonly status?: 201 | 204;
}

export interface AdminRoute extends RouteDefinition {
  readonly query?: TObject;
  /** Without the reason, which operations that need one also take. */
  readonly body?: TObject;
  /** Of the body as JSON, if it may be larger than others. */
  readonly bodyMaxBytes?: number;
  /** Refuses input that must not be stored while the act waits for a second person. */
  readonly checkHeld?: (call: HeldCall) => Promise<void> | void;
  /** The US dollars that a rule of approval compares, as text. Default: the field `amount_usd`. */
  readonly heldAmount?: (call: HeldCall) => Promise<string> | string;
  /** Fields of the body that the staff log leaves out, such as IP addresses, secrets, and texts. */
  readonly unlogged?: readonly string[];
  readonly run: (call: AdminCall) => Promise<object | undefined>;
}

/** The input for the staff log. */
export function loggedDetails({ unlogged = [] }: AdminRoute, details: object): object {
  return Object.fromEntries(Object.entries(details).filter(([name]) => !unlogged.includes(name)));
}

type Read<Schema extends TObject | undefined> = Schema extends TObject
  ? Static<Schema>
  : Record<string, never>;

/** Types a route by its path and schemas. */
export function adminRoute<
  Path extends string,
  Query extends TObject<TProperties> | undefined = undefined,
  Body extends TObject<TProperties> | undefined = undefined,
>(
  row: RouteDefinition & {
    readonly path: Path;
    readonly query?: Query;
    readonly body?: Body;
    readonly bodyMaxBytes?: number;
    readonly checkHeld?: (call: HeldCall<Read<Body>, PathParams<Path>>) => Promise<void> | void;
    readonly heldAmount?: (call: HeldCall<Read<Body>, PathParams<Path>>) => Promise<string> | string;
    readonly unlogged?: readonly (keyof Read<Body> & string)[];
    readonly run: (call: AdminCall<Read<Query>, Read<Body>, PathParams<Path>>) => Promise<object | undefined>;
  },
): AdminRoute {
  return row as unknown as AdminRoute;
}
