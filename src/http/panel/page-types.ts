/**
 * What a page of the panel says about itself. Everything else (who may see it, whether a form is ours, what a second click
 * does, how a refusal comes back) is made from this row by the pipeline, the same for all.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CustomerActor, Service } from '../../domain/context.ts';
import type { Session } from '../../domain/sessions/identify.ts';
import type { ErrorItem } from '../../kernel/fail.ts';
import type { FormContext } from '../../panel/form.ts';
import type { View } from '../../panel/layout.ts';
import type { Notice } from '../../panel/notices.ts';
import type { Operation as RestOperation } from '../../spec/operations.ts';
import type { Call, Operation } from '../endpoint.ts';
import type { Form } from '../form.ts';
import type { Edge } from '../settings.ts';

/** One look at a page. */
export interface PageContext {
  readonly edge: Edge;
  readonly service: Service;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Parts of the path as they came: a verb answers `not_found` to one that is no id. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Form;
  /** For the forms of the page: CSRF value, what was refused, what was typed. */
  readonly forms: FormContext;
  /** What a form's answer shows this once: a token, a password. Null on every other look. */
  readonly shown: ShownOnce | null;
  /** Null: nobody is signed in. */
  readonly signedIn: CustomerActor | null;
  /** The customer who is signed in; refuses with `auth_required`. */
  customer(): CustomerActor;
}

/** Texts that are shown once, by the name of the form that made them. */
export interface ShownOnce {
  readonly form: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** Where a form leads once it is done: to another page, with a word of what was done, or back to its own with what is shown once. */
export type FormResult = (
  | { readonly to: string; readonly notice?: Notice }
  | { readonly shown: Readonly<Record<string, string>> }
) & {
  /** The visitor's cookie from now on: who has just been let in, or is not any more. */
  readonly cookie?: string;
};

/** A form that does what an operation of the REST surface does: the same check, the same verb. */
export interface RestForm {
  readonly operation: RestOperation;
  /** The body of the request, from the form's fields; none when left out. */
  readonly body?: (form: Form) => object;
  /** The page says itself what helps where the balance is too low. */
  readonly hasOwnRemedy?: true;
  /** Names of the operation's fields that are called otherwise in this form: `{ public_key: 'key_text' }`. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Ids in the operation's path; the page's own when left out. */
  readonly params?: (
    form: Form,
    params: Readonly<Record<string, string>>,
  ) => Readonly<Record<string, string>>;
  readonly query?: (form: Form) => object;
  /** For a button that changes what stands on the page and nothing else: how it is shown again; null: it was another one. */
  readonly redraw?: (form: Form) => FormResult | null;
  /** What to refuse before anything is done: a name that was not typed, say. */
  readonly validate?: (
    call: Call,
    params: Readonly<Record<string, string>>,
  ) => Promise<readonly ErrorItem[]> | readonly ErrorItem[];
  /** `answer` is the operation's; `{}` where it has none. It is kept for a second click, and so is what is made of it. */
  readonly done: (
    answer: never,
    about: { readonly params: Readonly<Record<string, string>>; readonly form: Form },
  ) => FormResult;
}

/** A form that does what only the panel and the session surface can. */
export interface CustomForm extends Omit<Operation<FormResult>, 'run'> {
  /** As for a form of the REST surface. */
  readonly hasOwnRemedy?: true;
  /** What the REST operation is, if one does the same; the test that compares both surfaces reads it, too. */
  readonly rest?: RestOperation;
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** It does its own remembering of second clicks: one who is not signed in has no keys. */
  readonly skipIdempotency?: true;
  readonly run: (call: Call, keep: (tx: never, done: FormResult) => Promise<void>) => Promise<FormResult>;
}

export type PanelForm = RestForm | CustomForm;

export interface PanelPage {
  /** With parameters as `{id}`. */
  readonly path: string;
  /** Where it stands too: an address that the session surface gives. What its path says is turned into `path`'s parameters. */
  readonly alias?: {
    readonly path: string;
    readonly params: (
      service: Service,
      session: Session,
      given: unknown,
    ) => Promise<Readonly<Record<string, string>>>;
  };
  /** `customer`: whoever is not signed in is asked to, and comes back. */
  readonly access: 'anyone' | 'customer';
  /** Operations of the REST surface that looking at this page does: lists, single things. */
  readonly readOperations?: readonly RestOperation[];
  /** Where whoever opens it is led instead; null: he sees it. */
  readonly redirect?: (look: PageContext) => string | null;
  /** A form of it brings a file: of such a body only the fields before the file are read, and the form's `run` reads on. */
  readonly acceptsUpload?: true;
  /** The page. A refusal with `not_found` is the page of what is not there. */
  readonly render: (look: PageContext) => Promise<View> | View;
  /** By the names that its forms carry. */
  readonly forms?: Readonly<Record<string, PanelForm>>;
}

/** Types a form by what its operation answers. */
export function restForm<Answer extends object>(
  row: Omit<RestForm, 'done'> & {
    readonly done: (
      answer: Answer,
      about: { readonly params: Readonly<Record<string, string>>; readonly form: Form },
    ) => FormResult;
  },
): RestForm {
  return row as RestForm;
}
