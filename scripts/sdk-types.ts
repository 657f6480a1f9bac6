/** The SDK's types, generated from the OpenAPI document by openapi-typescript. */
import openapiTS, { astToString } from 'openapi-typescript';

const HEAD = `/** Generated from openapi/v1.json by \`npm run openapi\`. Do not edit. */\n`;

export async function sdkTypes(openApi: string): Promise<string> {
  const nodes = await openapiTS(openApi, {
    alphabetize: false,
    exportType: false,
    defaultNonNullable: false,
  });
  return `${HEAD}${astToString(nodes)}`;
}
