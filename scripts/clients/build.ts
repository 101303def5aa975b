import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedByPip, openApiGenerator } from '../../scenarios/support/installed.ts'

/** The languages of the clients in clients/. */
export const languages = ['python', 'php'] as const
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
}

/**
 * Builds the package of a client in a directory: the sources of clients/, and the code that a generator creates from
 * the OpenAPI document. Returns false if the generator can't be installed.
 */
export async function buildClient(language: Language, directory: string): Promise<boolean> {
  const { packages, program, args, from, to } = generators[language]
  const programs = await installedByPip(...packages)
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
 * Returns the OpenAPI document without what a client doesn't need or a generator doesn't understand. A client sends the
 * service's header with each request. openapi-generator takes webhooks for operations. PHP's regular expressions don't
 * know `\u`, and the service validates texts anyway.
 */
function buildClientDocument() {
  const file = new URL('../../openapi.json', import.meta.url)
  const { webhooks: _, ...document } = JSON.parse(readFileSync(file, 'utf8'), (name, value) => {
    if (name === 'pattern' && typeof value === 'string' && value.includes('\\u')) return
    return Array.isArray(value) ? value.filter(item => item?.$ref !== serviceParameter) : value
  })
  return document
}
