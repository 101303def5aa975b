import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core'
import { buildDocuments } from './documents/write.ts'

/** Rules in addition to the recommended ones, and rules that don't apply. */
const rules = {
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'operation-4xx-problem-details-rfc7807': 'error',
  'operation-parameters-unique': 'error',
  'operation-singular-tag': 'error',
  'operation-tag-defined': 'error',
  'parameter-description': 'error',
  'tag-description': 'error',
  // There is no licence yet.
  'info-license': 'off',
  // The server of the document in the repository is a checkout on this machine.
  'no-server-example.com': 'off',
} as const

/** Rules that the short slice of a tag doesn't follow: it has no examples, and one response for all errors. */
const rulesOfCompleteDocuments = ['scalar-property-missing-example', 'operation-4xx-response'] as const

/** Returns Redocly's errors and warnings about an OpenAPI document, one per line. It reads only the text. */
export async function lintOpenApi(text: string, isShort = false): Promise<string[]> {
  const severity = isShort ? 'off' : 'error'
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { ...rules, ...Object.fromEntries(rulesOfCompleteDocuments.map(rule => [rule, severity])) },
  })
  const absoluteRef = fileURLToPath(new URL('../openapi.json', import.meta.url))
  const problems = await lintFromString({ source: text, absoluteRef, config })
  return problems.map(formatProblem)
}

const formatProblem = ({ severity, ruleId, message, location: [place] }: NormalizedProblem) =>
  `${severity} ${ruleId} at ${place?.pointer ?? '#/'}: ${message}`

if (import.meta.main) {
  const { 'openapi.json': text = '' } = await buildDocuments()
  const findings = await lintOpenApi(text)
  for (const finding of findings) console.error(finding)
  if (findings.length) process.exitCode = 1
  else console.log('openapi.json: no findings.')
}
