/** The page of one resource: its operations, then the objects that they answer. */
import { V1_ERRORS } from '../../spec/errors.ts';
import { Html, html } from '../html.ts';
import type { View } from '../layout.ts';
import { markdownLine } from '../markdown.ts';
import type { ApiOperation, Parameter } from './document.ts';
import { exampleValue } from './examples.ts';
import { bodyTable, inputBlock, outputBlock, parameterTable, responseTable } from './fields.ts';
import { type ApiObject, listItemSchema, matchObject } from './objects.ts';
import {
  API_BREADCRUMBS,
  objectAnchor,
  objectLink,
  type Reference,
  RULES_PATH,
  tagTitle,
} from './reference.ts';
import { pathId, SAMPLES, sampleCall } from './samples.ts';

interface ResourceContext {
  readonly reference: Reference;
  readonly tag: string;
  readonly baseUrl: string;
}

export function resourceView(reference: Reference, tag: string, baseUrl: string): View {
  const context = { reference, tag, baseUrl };
  const operations = reference.operations.filter((operation) => operation.tag === tag);
  const objects = [...reference.objects.values()].filter((object) => object.tag === tag);
  const links = [
    ...operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>\n`),
    ...objects.map(
      ({ name }) => html`<li><a href="#${objectAnchor(name)}">The ${humanize(name)} object</a></li>\n`,
    ),
  ];
  return {
    title: tagTitle(tag),
    section: 'docs',
    breadcrumbs: API_BREADCRUMBS,
    body: html`<div class="reference"><nav aria-label="On this page"><ul>
${links}</ul></nav>
${sampleChooser(baseUrl)}
${operations.map((operation) => operationSection(operation, context))}
${objects.map((object) => objectSection(object, context))}</div>`,
  };
}

function operationSection(operation: ApiOperation, context: ResourceContext): Html {
  const { id, method, path, summary, scope, beta, description } = operation;
  const parameters = describedParameters(operation, context);
  const paragraphs = description.split('\n\n').filter((text) => text !== '');
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${summary}</h2>
<p><code><strong>${method}</strong> /v1${path}</code></p>
${paragraphs.map((text) => html`<p>${markdownLine(text)}</p>\n`)}
<p>Needs a token of the scope <code>${scope}</code>${beta && html`, and the header <code>X-Service-Beta: true</code>: it is beta and may change`}.</p>
${parameters.length > 0 && html`<h3>Parameters</h3>\n${parameterTable(`Parameters of ${id}`, parameters)}`}
${bodySection(operation, context)}
${sampleBlocks(operation, context)}
${responseSection(operation, context)}
<h3>Refusals</h3>
<p>${errorList(operation)}. <a href="${RULES_PATH}#errors">What they look like</a>.</p>
</section>
`;
}

/** Parts of the path say nothing of themselves: they are shown as they look. */
function describedParameters(operation: ApiOperation, { reference }: ResourceContext): Parameter[] {
  return operation.parameters.map((parameter) => {
    if (parameter.in !== 'path') return parameter;
    const example = pathId(operation, reference.operations, parameter.name);
    return { ...parameter, description: `Such as \`${example}\`.` };
  });
}

function bodySection({ id, body }: ApiOperation, context: ResourceContext): Html | null {
  if (!body) return null;
  return html`<h3>Body</h3>
${body.type !== 'application/json' && html`<p><code>${body.type}</code></p>`}
${bodyTable(`Body of ${id}`, body.schema, tableContext(context))}`;
}

/** How to begin, and which samples are shown: all of them where the browser cannot choose by style alone. */
function sampleChooser(baseUrl: string): Html {
  const choices = SAMPLES.map(
    ({ key, name }, index) =>
      html`<label><input type="radio" name="samples" value="${key}"${index === 0 && new Html(' checked')}>${name}</label>\n`,
  );
  return html`<div class="ways no-print" role="radiogroup" aria-labelledby="ways"><span id="ways">Samples in</span>
${choices}</div>
${SAMPLES.map(({ key, name, setup }) => sampleBlock(key, `Before the first call: ${name}`, setup(baseUrl)))}`;
}

function sampleBlocks(operation: ApiOperation, { reference, baseUrl }: ResourceContext): Html {
  const call = sampleCall(operation, reference.operations, baseUrl, reference.commands);
  return html`${SAMPLES.map(({ key, name, render }) => {
    const text = render(call);
    return text !== null && sampleBlock(key, name, text);
  })}`;
}

function sampleBlock(key: string, name: string, text: string): Html {
  return html`<div class="sample ${key}"><h3>${name}</h3>\n${inputBlock(text)}</div>\n`;
}

function responseSection(operation: ApiOperation, context: ResourceContext): Html {
  const { status, response } = operation;
  if (!response) return html`<h3>Answer</h3>\n<p><code>${status}</code>, without a body.</p>`;
  return html`<h3>Answer</h3>
<p><code>${status}</code>, ${describeResponse(operation, context)}</p>
${responseFields(operation, context)}
${response.stream !== null && outputBlock(response.stream.trim())}`;
}

function describeResponse({ response }: ApiOperation, { reference, tag }: ResourceContext): Html {
  const { objects } = reference;
  const listed = listItemSchema(response?.schema);
  const schema = listed ?? response?.schema ?? {};
  const match = matchObject(objects, schema);
  const link = match && objectLink(objects, match.object.name, tag);
  if (response?.stream != null) return html`which stays open: messages, the data of each is an ${link}.`;
  if (listed) {
    return html`one page of a list: <code>data</code> holds the items, each a ${link}; <code>next_cursor</code> is there while <code>has_more</code> is true.`;
  }
  if (!link) return html`with these fields:`;
  return match.extra === null ? html`the ${link}.` : html`the ${link}, and this once:`;
}

/** Only what is not described under an object. */
function responseFields({ id, response }: ApiOperation, context: ResourceContext): Html | null {
  if (!response || response.stream !== null || listItemSchema(response.schema)) return null;
  const match = matchObject(context.reference.objects, response.schema);
  const schema = match ? match.extra : response.schema;
  if (schema === null) return null;
  return html`${responseTable(`Answer of ${id}`, schema, tableContext(context))}
${outputBlock(JSON.stringify(exampleValue(schema), null, 2))}`;
}

function objectSection({ name, schema }: ApiObject, context: ResourceContext): Html {
  const anchor = objectAnchor(name);
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">The ${humanize(name)} object</h2>
${responseTable(`Fields of the ${humanize(name)} object`, schema, tableContext(context))}
${outputBlock(JSON.stringify(exampleValue(schema), null, 2))}
</section>
`;
}

function tableContext({ reference, tag }: ResourceContext) {
  const { objects } = reference;
  return { objects, linkTo: (name: string) => objectLink(objects, name, tag) };
}

/** `404 not_found`: in the order of their statuses. */
function errorList({ errors: rows }: ApiOperation): Html {
  const words = rows.map(({ status, code }) => {
    const message = Object.hasOwn(V1_ERRORS, code) ? V1_ERRORS[code as keyof typeof V1_ERRORS].message : '';
    return html`<code title="${message}">${status} ${code}</code>`;
  });
  return html`${words.map((word, index) => html`${index > 0 && ', '}${word}`)}`;
}

function humanize(name: string): string {
  return name.replaceAll('_', ' ');
}
