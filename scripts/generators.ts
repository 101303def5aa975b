import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documents } from '../src/commands/docs.ts'
import { installedByNpm, installedByPip, openApiTypeScript } from './installed.ts'

// Gives the OpenAPI document to what others make clients with, and to Spectral: none of them may have anything to warn of. What
// cannot be installed here is skipped, and said to be.

const spectral = () => installedByNpm('@stoplight/spectral-cli@6.16.3')
const openApiPythonClient = () => installedByPip('openapi-python-client==0.29.1')

interface Trial {
  name: string
  programs: string | undefined
  program: string
  args: string[]
}

const directory = mkdtempSync(join(tmpdir(), 'tillbridge-generators-'))
const inside = (name: string) => join(directory, name)

function trials(): Trial[] {
  const document = inside('openapi.json')
  return [
    {
      name: 'spectral:oas',
      programs: spectral(),
      program: 'spectral',
      args: ['lint', document, '--ruleset', inside('ruleset.yaml'), '--fail-severity', 'hint'],
    },
    {
      name: 'openapi-typescript',
      programs: installedByNpm(...openApiTypeScript),
      program: 'openapi-typescript',
      args: [document, '--output', inside('types.ts')],
    },
    {
      name: 'openapi-python-client',
      programs: openApiPythonClient(),
      program: 'openapi-python-client',
      args: ['generate', '--path', document, '--output-path', inside('python'), '--fail-on-warning'],
    },
  ]
}

/** What the tool says, and whether that is a warning. */
function tried({ name, programs, program, args }: Trial): boolean {
  if (!programs) {
    console.error(`SKIPPED: ${name} cannot be had here.`)
    return true
  }
  const path = `${programs}:${process.env.PATH}`
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, env: { PATH: path }, encoding: 'utf8' })
  const warned = status !== 0 || /warn/i.test(stderr)
  console.log(warned ? `${name}:\n${stdout}${stderr}` : `${name}: nothing to warn of.`)
  return !warned
}

try {
  const { 'openapi.json': document = '' } = await documents()
  writeFileSync(inside('openapi.json'), document)
  writeFileSync(inside('ruleset.yaml'), 'extends: spectral:oas\n')
  if (!trials().map(tried).every(Boolean)) process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
