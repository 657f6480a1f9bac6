/**
 * The description of a panel page. The pipeline derives the rest from it, alike for every page: access, CSRF
 * checks, deduplication of second clicks, and how errors are shown.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CustomerActor, Service } from '../../domain/context.ts';
import type { Session } from '../../domain/sessions/identify.ts';
import type { ErrorItem } from '../../kernel/fail.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import type { View } from '../../panel/parts/layout.ts';
import type { Notice } from '../../panel/parts/notices.ts';
import type { Operation as RestOperation } from '../../spec/operations.ts';
import type { Call, Operation } from '../admission/forms.ts';
import type { Form } from '../form.ts';
import type { Edge } from '../settings.ts';
import type { PathParams } from '../v1/route.ts';

/** The ids in a path that has some. */
export type PathIds = PathParams<'{id}'> & Readonly<Record<string, string>>;

/** One request for a page. */
export interface PageContext<Params extends object = object> {
  readonly edge: Edge;
  readonly service: Service;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Path parameters as sent. A verb answers `not_found` to a malformed id. */
  readonly params: Params;
  readonly query: Form;
  /** For the forms of the page: the CSRF token, errors, and previous input. */
  readonly forms: FormContext;
  /** Secrets that a form's response shows once, such as a token. Null for every other request. */
  readonly shown: ShownOnce | null;
  /** Null: the visitor is not signed in. */
  readonly signedIn: CustomerActor | null;
  /** Returns the signed-in customer, or fails with `auth_required`. */
  customer(): CustomerActor;
}

/** Texts that are shown once, and the form that created them. */
export interface ShownOnce {
  readonly form: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** A form's result: a redirect to another page with a notice, or the same page with texts shown once. */
export type FormResult = (
  | { readonly to: string; readonly notice?: Notice }
  | { readonly shown: Readonly<Record<string, string>> }
) & {
  /** The visitor's new cookie, set after signing in or out. */
  readonly cookie?: string;
};

/** A form for an operation of the REST surface, with the same validation and the same verb. */
export interface RestForm {
  readonly operation: RestOperation;
  /** Builds the body of the request from the form's fields. Without it, there is no body. */
  readonly body?: (form: Form) => object;
  /** The page itself explains how to resolve an insufficient balance. */
  readonly hasOwnRemedy?: true;
  /** The form's names for fields of the operation, where they differ: `{ public_key: 'key_text' }`. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Ids in the operation's path. Defaults to the page's own. */
  readonly params?: (form: Form, params: PathIds) => PathIds;
  readonly query?: (form: Form) => object;
  /** For buttons that only change the page: returns the page to show, or null for any other button. */
  readonly redraw?: (form: Form) => FormResult | null;
  /** Returns errors found before the operation runs, such as a missing confirmation. */
  readonly validate?: (call: Call, params: PathIds) => Promise<readonly ErrorItem[]> | readonly ErrorItem[];
  /** `answer` is the operation's response, or `{}`. The result is saved for a second click. */
  readonly done: (answer: never, about: { readonly params: PathIds; readonly form: Form }) => FormResult;
}

/** A form for an action that only the panel and the session surface offer. */
export interface CustomForm extends Omit<Operation<FormResult>, 'run'> {
  /** As in `RestForm`. */
  readonly hasOwnRemedy?: true;
  /** The equivalent REST operation, if there is one. The test that compares both surfaces reads it too. */
  readonly rest?: RestOperation;
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** The form deduplicates on its own: visitors who are not signed in have no idempotency keys. */
  readonly skipIdempotency?: true;
  /** On a live service, the form does not exist. */
  readonly onlyInSandbox?: true;
  readonly run: (call: Call, params: PathIds) => Promise<FormResult>;
  /** As in `customForm`. Without it, the result is saved after `run`. */
  readonly done?: (result: never) => FormResult;
}

export type PanelForm = RestForm | CustomForm;

export interface PanelPage {
  /** With parameters as `{id}`. */
  readonly path: string;
  /** A second path, used by the session surface. `params` converts its parameters to those of `path`. */
  readonly alias?: {
    readonly path: string;
    readonly params: (
      service: Service,
      session: Session,
      given: unknown,
    ) => Promise<Readonly<Record<string, string>>>;
  };
  /** `customer`: a visitor who is not signed in is sent to sign in and returns afterwards. */
  readonly access: 'anyone' | 'customer';
  /** The REST operations that this page's GET performs: lists and single resources. */
  readonly readOperations?: readonly RestOperation[];
  /** Returns a path to redirect to, or null to show the page. */
  readonly redirect?: (look: PageContext) => string | null;
  /**
   * A form uploads a file: only the fields before the file are parsed, and the form's `run` reads the rest.
   */
  readonly acceptsUpload?: true;
  /** Renders the page. A `not_found` failure shows the not-found page. */
  readonly render: (look: PageContext) => Promise<View> | View;
  /** By form name. */
  readonly forms?: Readonly<Record<string, PanelForm>>;
}

/** Types a form by the response of its operation. */
export function restForm<Answer extends object>(
  row: Omit<RestForm, 'done'> & {
    readonly done: (answer: Answer, about: { readonly params: PathIds; readonly form: Form }) => FormResult;
  },
): RestForm {
  return row as RestForm;
}

/**
 * A form whose verb saves its result in its transaction. `done` converts what `run` returns, and what the
 * verb saves, to the form's result.
 */
export function customForm<Result extends object>(
  row: Omit<CustomForm, 'run' | 'done'> & {
    readonly run: (call: Call, params: PathIds) => Promise<Result>;
    readonly done: (result: Result) => FormResult;
  },
): CustomForm {
  return row as unknown as CustomForm;
}

/** Types a page by its path. */
export function page<Path extends string>(
  row: Omit<PanelPage, 'render'> & {
    readonly path: Path;
    readonly render: (look: PageContext<PathParams<Path>>) => Promise<View> | View;
  },
): PanelPage {
  return row as unknown as PanelPage;
}
