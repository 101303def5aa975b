import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  installGoTool,
  installNpmTools,
  installPipTools,
  openApiGenerator,
  openApiTypeScript,
} from '../scenarios/support/install-tools.ts'
import { buildDocuments } from './documents/write.ts'

// Passes the OpenAPI document to client generators and to Spectral. None of them may warn. Reports and skips those
// that can't be installed.

interface ToolRun {
  name: string
  programs: Promise<string | undefined>
  program: string
  args: string[]
}

const directory = mkdtempSync(join(tmpdir(), 'tillbridge-generators-'))
const inDirectory = (name: string) => join(directory, name)
const config = fileURLToPath(new URL('../clients/python/generator.yaml', import.meta.url))

function listToolRuns(): ToolRun[] {
  const document = inDirectory('openapi.json')
  const javaPrograms = installPipTools(openApiGenerator)
  return [
    {
      name: 'spectral:oas',
      programs: installNpmTools('@stoplight/spectral-cli@6.16.3'),
      program: 'spectral',
      args: ['lint', document, '--ruleset', inDirectory('ruleset.yaml'), '--fail-severity', 'hint'],
    },
    {
      name: 'openapi-typescript',
      programs: installNpmTools(...openApiTypeScript),
      program: 'openapi-typescript',
      args: [document, '--output', inDirectory('types.ts')],
    },
    {
      name: 'openapi-python-client',
      programs: installPipTools('openapi-python-client==0.29.1'),
      program: 'openapi-python-client',
      args: [
        'generate',
        '--path',
        document,
        '--output-path',
        inDirectory('python'),
        '--config',
        config,
        '--fail-on-warning',
      ],
    },
    {
      name: 'openapi-generator for C#',
      programs: javaPrograms,
      program: 'openapi-generator-cli',
      args: [
        'generate',
        '-i',
        document,
        '-g',
        'csharp',
        '-o',
        inDirectory('csharp'),
        '--global-property',
        'apis,models',
      ],
    },
    {
      name: 'openapi-generator for PHP',
      programs: javaPrograms,
      program: 'openapi-generator-cli',
      args: ['generate', '-i', document, '-g', 'php', '-o', inDirectory('php'), '--global-property', 'apis,models'],
    },
    {
      name: 'oapi-codegen',
      programs: installGoTool('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'),
      program: 'oapi-codegen',
      args: [
        '-generate',
        'types,client,skip-prune',
        '-package',
        'tillbridge',
        '-o',
        inDirectory('client.go'),
        document,
      ],
    },
  ]
}

const execute = promisify(execFile)

/** Notices of openapi-generator that concern every document of OpenAPI 3.1. */
const ignoredNotices = /WARN.*(OpenAPI 3\.1 support is still in beta|Failed to get the schema name: null)/

/** Prints the output of a tool. Returns true if it has no warnings. */
async function hasNoWarnings({ name, programs, program, args }: ToolRun): Promise<boolean> {
  const folder = await programs
  if (!folder) {
    console.error(`SKIPPED: ${name} cannot be installed.`)
    return true
  }
  const env = { PATH: `${folder}:${process.env.PATH}` }
  const { code, stdout, stderr } = await execute(program, args, { cwd: directory, env }).then(
    output => ({ code: 0, ...output }),
    (failure: { code: unknown; stdout: string; stderr: string }) => failure,
  )
  const isWarning = (line: string) => /\bwarn(ing)?\b/i.test(line) && !/ INFO /.test(line) && !ignoredNotices.test(line)
  const warned = code !== 0 || `${stdout}${stderr}`.split('\n').some(isWarning)
  console.log(warned ? `${name}:\n${stdout}${stderr}` : `${name}: no warnings.`)
  return !warned
}

try {
  const { 'openapi.json': document = '' } = await buildDocuments()
  writeFileSync(inDirectory('openapi.json'), document)
  writeFileSync(inDirectory('ruleset.yaml'), 'extends: spectral:oas\n')
  const results = await Promise.all(listToolRuns().map(hasNoWarnings))
  if (!results.every(Boolean)) process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
