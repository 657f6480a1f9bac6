/** The page of one resource: its operations, then the objects that they return. */
import { V1_ERRORS, type V1Error } from '../../../spec/errors.ts';
import { Html, html } from '../../parts/html.ts';
import { codeBlock } from '../highlight.ts';
import type { DocsView } from '../layout.ts';
import { markdownLine } from '../markdown.ts';
import type { ApiOperation, Parameter } from './document.ts';
import { exampleValue } from './examples.ts';
import { bodyTable, parameterTable, referenceTable, responseTable } from './fields.ts';
import { type ApiObject, listItemSchema, matchObject } from './objects.ts';
import {
  API_BREADCRUMBS,
  objectAnchor,
  objectLink,
  type Reference,
  RULES_PATH,
  tagPath,
  tagTitle,
} from './reference.ts';
import { pathId, SAMPLES, type Sample, sampleCall } from './samples.ts';

interface ResourceContext {
  readonly reference: Reference;
  readonly tag: string;
  readonly baseUrl: string;
}

export function resourceView(reference: Reference, tag: string, baseUrl: string): DocsView {
  const context = { reference, tag, baseUrl };
  const operations = reference.operations.filter((operation) => operation.tag === tag);
  const objects = [...reference.objects.values()].filter((object) => object.tag === tag);
  return {
    path: tagPath(tag),
    title: tagTitle(tag),
    breadcrumbs: API_BREADCRUMBS,
    headings: [
      ...operations.map(({ id, summary, method, path }) => {
        return { id, text: summary, level: 2, endpoint: { method, path } } as const;
      }),
      ...objects.map(({ name }) => ({ id: objectAnchor(name), text: objectTitle(name), level: 2 }) as const),
    ],
    body: html`<div class="reference">${sampleChooser(baseUrl)}
${operations.map((operation) => operationSection(operation, context))}
${objects.map((object) => objectSection(object, context))}</div>`,
  };
}

function operationSection(operation: ApiOperation, context: ResourceContext): Html {
  const { id, method, path, summary, scope, beta, description } = operation;
  const paragraphs = description.split('\n\n').filter((text) => text !== '');
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${summary}</h2>
<p class="endpoint"><code><strong>${method}</strong> /v1${path}</code></p>
${paragraphs.map((text) => html`<p>${markdownLine(text)}</p>\n`)}
<p>Requires a token with scope <code>${scope}</code>.${beta && betaNote()}${idempotencyNote(operation)}</p>
${parameterSection(operation, context)}${bodySection(operation, context)}${sampleBlocks(operation, context)}
${responseSection(operation, context)}
${errorSection(operation)}
</section>
`;
}

function betaNote(): Html {
  return html` This operation is in beta and can change without notice. Send <code>X-Service-Beta:
true</code>.`;
}

const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** Every POST accepts the header, so a sentence replaces its row in the table of parameters. */
function idempotencyNote({ parameters }: ApiOperation): Html | null {
  if (!parameters.some(({ name }) => name === IDEMPOTENCY_HEADER)) return null;
  return html` To retry safely, send an
<a href="${RULES_PATH}#idempotency"><code>${IDEMPOTENCY_HEADER}</code></a>.`;
}

function parameterSection(operation: ApiOperation, { reference }: ResourceContext): Html | null {
  const parameters = operation.parameters
    .filter(({ name }) => name !== IDEMPOTENCY_HEADER)
    .map((parameter): Parameter => {
      if (parameter.in !== 'path') return parameter;
      const example = pathId(operation, reference.operations, parameter.name);
      return { ...parameter, description: `For example \`${example}\`.` };
    });
  if (parameters.length === 0) return null;
  return html`${partHeading(operation, 'Parameters')}
${parameterTable(partLabels(operation, 'Parameters'), parameters)}
`;
}

/** A heading within an operation, with an anchor such as `servers.create-errors`. */
function partHeading(operation: ApiOperation, title: string): Html {
  return html`<h3 id="${partAnchor(operation, title)}">${title}</h3>`;
}

function partAnchor({ id }: ApiOperation, title: string): string {
  return `${id}-${title.toLowerCase().replace(' ', '-')}`;
}

/** The ids that name a table: of the operation, and of the part. */
function partLabels(operation: ApiOperation, title: string): string {
  return `${operation.id} ${partAnchor(operation, title)}`;
}

function bodySection(operation: ApiOperation, context: ResourceContext): Html | null {
  const { body } = operation;
  if (!body) return null;
  return html`${partHeading(operation, 'Request body')}
${body.type !== 'application/json' && html`<p>Content type: <code>${body.type}</code></p>`}
${bodyTable(partLabels(operation, 'Request body'), body.schema, tableContext(context))}
`;
}

/** Setup, and the choice of samples. Browsers that cannot choose with CSS alone show all samples. */
function sampleChooser(baseUrl: string): Html {
  const choices = SAMPLES.map(({ key, name }, index) => {
    const checked = index === 0 && new Html(' checked');
    return html`<label><input type="radio" name="samples" value="${key}"${checked}>${name}</label>\n`;
  });
  return html`<div class="ways no-print" role="radiogroup" aria-labelledby="ways">
<span id="ways">Samples in</span>
${choices}</div>
<h2 id="setup">Setup</h2>
<p>Run this once. Every sample on this page continues from it.</p>
${SAMPLES.map((sample) => sampleBlock(sample, sample.setup(baseUrl)))}`;
}

function sampleBlocks(operation: ApiOperation, { reference, baseUrl }: ResourceContext): Html {
  const call = sampleCall(operation, reference.operations, baseUrl, reference.commands);
  return html`${SAMPLES.map((sample) => {
    const text = sample.render(call);
    return text !== null && sampleBlock(sample, text);
  })}`;
}

function sampleBlock({ key, name, language }: Sample, text: string): Html {
  const code = codeBlock(text, { language });
  return html`<div class="sample ${key}"><h3>${name}</h3>\n${code}</div>\n`;
}

function responseSection(operation: ApiOperation, context: ResourceContext): Html {
  const { status, response } = operation;
  const heading = partHeading(operation, 'Response');
  if (!response) return html`${heading}\n<p><code>${status}</code> without a body.</p>`;
  return html`${heading}
<p><code>${status}</code> ${describeResponse(operation, context)}</p>
${responseFields(operation, context)}
${response.stream !== null && codeBlock(response.stream.trim(), { language: 'http' })}`;
}

function describeResponse({ response }: ApiOperation, { reference, tag }: ResourceContext): Html {
  const { objects } = reference;
  const listed = listItemSchema(response?.schema);
  const schema = listed ?? response?.schema ?? {};
  const match = matchObject(objects, schema);
  const link = match && objectLink(objects, match.object.name, tag);
  if (response?.stream != null) {
    return html`with a stream that stays open. The data of each message is an ${link} object.`;
  }
  if (listed) {
    return html`with one <a href="${RULES_PATH}#pagination">page</a> of a list. Each item in
<code>data</code> is a
${link} object.`;
  }
  if (!link) return html`with these fields:`;
  return match.extra === null
    ? html`with the ${link} object.`
    : html`with the ${link} object, and with these fields in this response only:`;
}

/** Fields that no object describes. */
function responseFields(operation: ApiOperation, context: ResourceContext): Html | null {
  const { response } = operation;
  if (!response || response.stream !== null || listItemSchema(response.schema)) return null;
  const match = matchObject(context.reference.objects, response.schema);
  const schema = match ? match.extra : response.schema;
  if (schema === null) return null;
  return html`${responseTable(partLabels(operation, 'Response'), schema, tableContext(context))}
${codeBlock(JSON.stringify(exampleValue(schema), null, 2), { language: 'json' })}`;
}

function objectSection({ name, schema }: ApiObject, context: ResourceContext): Html {
  const anchor = objectAnchor(name);
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${objectTitle(name)}</h2>
<h3 id="${anchor}-fields">Fields</h3>
${responseTable(`${anchor} ${anchor}-fields`, schema, tableContext(context))}
${codeBlock(JSON.stringify(exampleValue(schema), null, 2), { language: 'json' })}
</section>
`;
}

function tableContext({ reference, tag }: ResourceContext) {
  const { objects } = reference;
  return { objects, linkTo: (name: string) => objectLink(objects, name, tag) };
}

/** Errors that depend on the operation. All others are possible everywhere. */
const SPECIFIC_ERRORS: ReadonlySet<string> = new Set(['404', '409', '422']);

function errorSection(operation: ApiOperation): Html {
  const specific = operation.errors.filter(({ status }) => SPECIFIC_ERRORS.has(status));
  const general = operation.errors.filter(({ status }) => !SPECIFIC_ERRORS.has(status));
  // The page of rules has their names.
  const codes = general.map(({ status }) => status).join(', ');
  const rows = specific.map(({ status, code }) => [html`<code>${status} ${code}</code>`, errorMessage(code)]);
  return html`${partHeading(operation, 'Errors')}
${rows.length > 0 && referenceTable(partLabels(operation, 'Errors'), ['Error', 'Meaning'], rows)}
<p data-unindexed class="soft">As with <a href="${RULES_PATH}#errors">every operation</a>:
<code>${codes}</code></p>`;
}

function errorMessage(code: string): string {
  return Object.hasOwn(V1_ERRORS, code) ? V1_ERRORS[code as V1Error].message : '';
}

function objectTitle(name: string): string {
  return `The ${name.replaceAll('_', ' ')} object`;
}
