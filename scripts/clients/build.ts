import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPipTools, openApiGenerator } from '../../scenarios/support/install-tools.ts'

/** The languages of the clients in clients/. */
export const languages = ['python', 'php', 'csharp'] as const
export type Language = (typeof languages)[number]

interface Generator {
  /** The Python packages that contain it. */
  packages: string[]
  program: string
  /** Options, with the document and a new directory for the output. */
  args(document: string, output: string): string[]
  /** The directory of the output that the package needs, and the directory for it in the package. */
  from: string
  to: string
}

const sources = fileURLToPath(new URL('../../clients/', import.meta.url))

const withoutTests = 'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'

/** .NET Standard runs on .NET and .NET Framework. Our own code retries requests. */
const csharpOptions = 'packageName=Tillbridge.Generated,targetFramework=netstandard2.0,supportsRetry=false'

const generators: Record<Language, Generator> = {
  python: {
    packages: ['openapi-python-client==0.29.1'],
    program: 'openapi-python-client',
    args: (document, output) => [
      ...['generate', '--path', document, '--output-path', output, '--overwrite'],
      ...['--config', join(sources, 'python/generator.yaml'), '--fail-on-warning', '--meta', 'none'],
    ],
    from: '.',
    to: 'tillbridge/generated',
  },
  php: {
    packages: [openApiGenerator],
    program: 'openapi-generator-cli',
    args: (document, output) => [
      ...['generate', '-i', document, '-g', 'php', '-o', output, '--global-property', withoutTests],
      ...[
        '--additional-properties',
        'invokerPackage=Tillbridge\\Generated,srcBasePath=generated,variableNamingConvention=camelCase',
      ],
    ],
    from: 'generated',
    to: 'generated',
  },
  csharp: {
    packages: [openApiGenerator],
    program: 'openapi-generator-cli',
    args: (document, output) => [
      ...['generate', '-i', document, '-g', 'csharp', '-o', output, '--library', 'httpclient'],
      ...['--global-property', withoutTests, '--additional-properties', csharpOptions],
    ],
    from: 'src/Tillbridge.Generated',
    to: 'Generated',
  },
}

/**
 * Builds the package of a client in a directory: the sources of clients/, and the code that a generator creates from
 * the OpenAPI document. Returns false if the generator can't be installed.
 */
export async function buildClient(language: Language, directory: string): Promise<boolean> {
  const { packages, program, args, from, to } = generators[language]
  const programs = await installPipTools(...packages)
  if (!programs) return false
  const temporary = mkdtempSync(join(tmpdir(), 'tillbridge-client-'))
  try {
    const document = join(temporary, 'openapi.json')
    const output = join(temporary, 'output')
    writeFileSync(document, JSON.stringify(buildClientDocument()))
    // openapi-python-client looks for its formatter on the PATH.
    const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` }
    execFileSync(program, args(document, output), { env, stdio: ['ignore', 'ignore', 'inherit'] })
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { recursive: true })
    cpSync(join(sources, language), directory, { recursive: true })
    cpSync(join(output, from), join(directory, to), { recursive: true })
    return true
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const serviceParameter = '#/components/parameters/ServiceName'

/**
 * Returns the OpenAPI document without the parts that a client doesn't need or a generator doesn't support. A client sends the
 * service's header with each request. openapi-generator treats webhooks as operations, and copies the introduction into
 * each file. PHP's regular expressions don't know `\u`, and the server validates texts anyway. C# has no constants of the type boolean.
 */
function buildClientDocument() {
  const file = new URL('../../openapi.json', import.meta.url)
  const {
    webhooks: _,
    info,
    ...document
  } = JSON.parse(readFileSync(file, 'utf8'), (name, value) => {
    if (name === 'pattern' && typeof value === 'string' && value.includes('\\u')) return
    if (name === 'const' && typeof value === 'boolean') return
    if (isOptionalString(value)) return { description: value.description, type: ['string', 'null'] }
    return Array.isArray(value) ? value.filter(item => item?.$ref !== serviceParameter) : value
  })
  return { ...document, info: { ...info, description: info.summary } }
}

/** True for a string that can be null or empty: generators would create a class for it. */
const isOptionalString = (value: { anyOf?: { type?: string; maxLength?: number }[] } | null) =>
  value?.anyOf?.length === 3 && value.anyOf.every(({ type }) => type === 'string' || type === 'null')
