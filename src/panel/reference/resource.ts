/** The page of one resource: its operations, then the objects that they answer. */
import { V1_ERRORS } from '../../spec/errors.ts';
import { Html, html } from '../html.ts';
import type { View } from '../layout.ts';
import { markdownLine } from '../markdown.ts';
import type { ApiOperation, Parameter } from './document.ts';
import { exampleOf } from './examples.ts';
import { answered, answerTable, bodyTable, parameterTable, typed } from './fields.ts';
import { type ApiObject, listedIn, objectIn } from './objects.ts';
import { ABOVE_API, objectAnchor, objectLink, type Reference, RULES_PATH, tagTitle } from './reference.ts';
import { pathId, SAMPLES, sampleCall } from './samples.ts';

interface Around {
  readonly reference: Reference;
  readonly tag: string;
  readonly baseUrl: string;
}

export function resourceView(reference: Reference, tag: string, baseUrl: string): View {
  const around = { reference, tag, baseUrl };
  const operations = reference.operations.filter((operation) => operation.tag === tag);
  const objects = [...reference.objects.values()].filter((object) => object.tag === tag);
  const links = [
    ...operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>\n`),
    ...objects.map(
      ({ name }) => html`<li><a href="#${objectAnchor(name)}">The ${spaced(name)} object</a></li>\n`,
    ),
  ];
  return {
    title: tagTitle(tag),
    section: 'docs',
    above: ABOVE_API,
    body: html`<div class="reference"><nav aria-label="On this page"><ul>
${links}</ul></nav>
${ways(baseUrl)}
${operations.map((operation) => operationPart(operation, around))}
${objects.map((object) => objectPart(object, around))}</div>`,
  };
}

function operationPart(operation: ApiOperation, around: Around): Html {
  const { id, method, path, summary, scope, beta, description } = operation;
  const parameters = explained(operation, around);
  const paragraphs = description.split('\n\n').filter((text) => text !== '');
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${summary}</h2>
<p><code><strong>${method}</strong> /v1${path}</code></p>
${paragraphs.map((text) => html`<p>${markdownLine(text)}</p>\n`)}
<p>Needs a token of the scope <code>${scope}</code>${beta && html`, and the header <code>X-Service-Beta: true</code>: it is beta and may change`}.</p>
${parameters.length > 0 && html`<h3>Parameters</h3>\n${parameterTable(`Parameters of ${id}`, parameters)}`}
${bodyPart(operation, around)}
${samples(operation, around)}
${answerPart(operation, around)}
<h3>Refusals</h3>
<p>${refusals(operation)}. <a href="${RULES_PATH}#errors">What they look like</a>.</p>
</section>
`;
}

/** Parts of the path say nothing of themselves: they are shown as they look. */
function explained(operation: ApiOperation, { reference }: Around): Parameter[] {
  return operation.parameters.map((parameter) => {
    if (parameter.in !== 'path') return parameter;
    const example = pathId(operation, reference.operations, parameter.name);
    return { ...parameter, description: `Such as \`${example}\`.` };
  });
}

function bodyPart({ id, body }: ApiOperation, around: Around): Html | null {
  if (!body) return null;
  return html`<h3>Body</h3>
${body.type !== 'application/json' && html`<p><code>${body.type}</code></p>`}
${bodyTable(`Body of ${id}`, body.schema, fieldsAround(around))}`;
}

/** How to begin, and which samples are shown: all of them where the browser cannot choose by style alone. */
function ways(baseUrl: string): Html {
  const choices = SAMPLES.map(
    ({ key, name }, index) =>
      html`<label><input type="radio" name="samples" value="${key}"${index === 0 && new Html(' checked')}>${name}</label>\n`,
  );
  return html`<div class="ways no-print" role="radiogroup" aria-labelledby="ways"><span id="ways">Samples in</span>
${choices}</div>
${SAMPLES.map(({ key, name, before }) => sample(key, `Before the first call: ${name}`, before(baseUrl)))}`;
}

function samples(operation: ApiOperation, { reference, baseUrl }: Around): Html {
  const call = sampleCall(operation, reference.operations, baseUrl, reference.commands);
  return html`${SAMPLES.map(({ key, name, write }) => {
    const text = write(call);
    return text !== null && sample(key, name, text);
  })}`;
}

function sample(key: string, name: string, text: string): Html {
  return html`<div class="sample ${key}"><h3>${name}</h3>\n${typed(text)}</div>\n`;
}

function answerPart(operation: ApiOperation, around: Around): Html {
  const { status, answer } = operation;
  if (!answer) return html`<h3>Answer</h3>\n<p><code>${status}</code>, without a body.</p>`;
  return html`<h3>Answer</h3>
<p><code>${status}</code>, ${answerWords(operation, around)}</p>
${answerFields(operation, around)}
${answer.stream !== null && answered(answer.stream.trim())}`;
}

function answerWords({ answer }: ApiOperation, { reference, tag }: Around): Html {
  const { objects } = reference;
  const listed = listedIn(answer?.schema);
  const schema = listed ?? answer?.schema ?? {};
  const known = objectIn(objects, schema);
  const link = known && objectLink(objects, known.object.name, tag);
  if (answer?.stream != null) return html`which stays open: messages, the data of each is an ${link}.`;
  if (listed) {
    return html`one page of a list: <code>data</code> holds the items, each a ${link}; <code>next_cursor</code> is there while <code>has_more</code> is true.`;
  }
  if (!link) return html`with these fields:`;
  return known.more === null ? html`the ${link}.` : html`the ${link}, and this once:`;
}

/** Only what is not described under an object. */
function answerFields({ id, answer }: ApiOperation, around: Around): Html | null {
  if (!answer || answer.stream !== null || listedIn(answer.schema)) return null;
  const known = objectIn(around.reference.objects, answer.schema);
  const schema = known ? known.more : answer.schema;
  if (schema === null) return null;
  return html`${answerTable(`Answer of ${id}`, schema, fieldsAround(around))}
${answered(JSON.stringify(exampleOf(schema), null, 2))}`;
}

function objectPart({ name, schema }: ApiObject, around: Around): Html {
  const anchor = objectAnchor(name);
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">The ${spaced(name)} object</h2>
${answerTable(`Fields of the ${spaced(name)} object`, schema, fieldsAround(around))}
${answered(JSON.stringify(exampleOf(schema), null, 2))}
</section>
`;
}

function fieldsAround({ reference, tag }: Around) {
  const { objects } = reference;
  return { objects, linkTo: (name: string) => objectLink(objects, name, tag) };
}

/** `404 not_found`: in the order of their statuses. */
function refusals({ refusals: rows }: ApiOperation): Html {
  const words = rows.map(({ status, code }) => {
    const message = Object.hasOwn(V1_ERRORS, code) ? V1_ERRORS[code as keyof typeof V1_ERRORS].message : '';
    return html`<code title="${message}">${status} ${code}</code>`;
  });
  return html`${words.map((word, index) => html`${index > 0 && ', '}${word}`)}`;
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}
