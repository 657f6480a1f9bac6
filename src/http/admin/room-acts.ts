/** Acts as forms: their fields follow the schemas of the operations. */
import { Readable } from 'node:stream';
import type { CataloguePreview } from '../../domain/catalogue/edit.ts';
import type { ConsoleNotice } from '../../panel/staff/notices.ts';
import { counted } from '../../panel/staff/parts.ts';
import {
  PREVIEW_BUTTON,
  type RoomField,
  type RoomForm,
  type RoomPreview,
} from '../../panel/staff/room-form.ts';
import { STAFF_OPERATIONS, type StaffOperation } from '../../spec/staff/operations.ts';
import { type Form, field } from '../form.ts';
import type { ConsoleContext, ConsoleForm, ConsoleResult, FormAgain, PageIds } from './page.ts';
import { fieldsOf, readBody } from './schema-form.ts';

/** An act as a form on a page. */
export interface RoomAct<Item> {
  readonly operation: StaffOperation;
  readonly title: string;
  readonly button: string;
  readonly isDangerous?: true;
  /** A sentence or two about its effects. */
  readonly text?: string;
  /** Whether the form is offered for the resource. */
  readonly when?: (item: Item) => boolean;
  /** The current values of its fields. */
  readonly values?: (item: Item) => Readonly<Record<string, string | number | boolean | null>>;
  /** A field that names the resource of the operation, if the page is about another one. */
  readonly target?: { readonly label: string; readonly value: (item: Item) => string };
  /** The reason to begin with. */
  readonly reason?: (item: Item) => string;
  /** Fields of the operation that do not apply to the resource. */
  readonly without?: readonly string[];
  readonly notice?: ConsoleNotice;
  /** Its form shows the difference first: an edit of the catalog. */
  readonly hasPreview?: true;
  /** The page to show next. Defaults to the page of the form; a creating form leads to the new resource. */
  readonly to?: (answer: Readonly<Record<string, unknown>>, params: PageIds) => string;
  /** The name of the file that the answer, a stream of JSON, is downloaded as. */
  readonly fileName?: (params: PageIds) => string;
  /** Values of the answer to show once, such as a code. */
  readonly shows?: (answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, string>>;
}

const TARGET_FIELD = 'target';

type Done = (answer: Readonly<Record<string, unknown>>, params: PageIds) => { readonly to: string };

/** The forms of acts, by operation. */
export function actForms<Item>(
  acts: readonly RoomAct<Item>[],
  done: Done,
): Readonly<Record<string, ConsoleForm>> {
  return Object.fromEntries(acts.map((act) => [act.operation, formOf(act, done)]));
}

function formOf<Item>(act: RoomAct<Item>, done: Done): ConsoleForm {
  const { operation, notice = 'saved' } = act;
  return {
    operation,
    ...(act.target && { params: (form: Form) => ({ id: field(form, TARGET_FIELD).trim() }) }),
    body: (form) => readBody(operation, form),
    ...(act.hasPreview && { otherButton: previewButton(operation) }),
    done: (answer: Readonly<Record<string, unknown>>, params): ConsoleResult => {
      if (act.fileName && answer instanceof Readable) {
        return { download: { fileName: act.fileName(params), content: answer } };
      }
      if (act.shows) return { shown: act.shows(answer) };
      return { to: act.to?.(answer, params) ?? done(answer, params).to, notice };
    },
  };
}

/** Null without the button: the form is to be performed. */
function previewButton(operation: StaffOperation) {
  return async (form: Form, { params, read }: Pick<ConsoleContext, 'params' | 'read'>) => {
    if (!form.has(PREVIEW_BUTTON)) return null;
    const { preview: _, ...change } = readBody(operation, form) as { readonly preview?: string };
    const asked = { operation, ...(params.id !== undefined && { id: params.id }), change };
    const found = await read<CataloguePreview>('catalogue.preview', {}, {}, asked);
    return { again: form, preview: { form: operation, ...previewOf(found) } } satisfies FormAgain;
  };
}

function previewOf({ lines, servers, customers, effects, code }: CataloguePreview): RoomPreview {
  const whom = `Concerned: ${counted(servers, 'server')} of ${counted(customers, 'customer')}.`;
  return { lines, notes: [whom, ...effects], code };
}

/** The forms that the person may use on this resource. */
export function shownActs<Item>(
  acts: readonly RoomAct<Item>[],
  item: Item,
  { may, preview }: Pick<ConsoleContext, 'may' | 'preview'>,
): RoomForm[] {
  return acts
    .filter(({ operation, when }) => may(operation) && (when?.(item) ?? true))
    .map((act) => ({
      name: act.operation,
      title: act.title,
      button: act.button,
      isDangerous: act.isDangerous ?? false,
      text: act.text,
      fields: [
        ...(act.target ? [targetField(act.target.label, act.target.value(item))] : []),
        ...fieldsOf(act.operation, act.values?.(item) ?? {}, act.hasPreview ? ['preview'] : act.without),
      ],
      reason: act.reason?.(item),
      ...(act.hasPreview && { preview: preview?.form === act.operation ? preview : null }),
      needsReason: STAFF_OPERATIONS[act.operation].needsReason,
    }));
}

function targetField(label: string, value: string): RoomField {
  const none = { choices: [], hint: undefined, maxLength: undefined };
  return { ...none, name: TARGET_FIELD, label, kind: 'text', isRequired: true, value };
}
