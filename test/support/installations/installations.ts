import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { createTemporaryDirectory } from '../postgres/processes.ts'
import {
  type Credentials,
  createDirectory,
  createServiceAccess,
  type Environment,
  runSuccessfully,
} from '../processes.ts'

/** Those that are copied: of the whole run, or of this file where it runs alone. */
const templates = process.env.TEST_INSTALLATIONS ?? createDirectory()

/** An installation without a service in place of a DATA_DIR that is not there yet: a copy, which spares a first start. For tests whose subject that is not. */
export async function install<T extends Environment>(environment: T): Promise<T> {
  copyTemplate(await getTemplate('empty', home => runSuccessfully(['migrate'], { DATA_DIR: home })), environment)
  return environment
}

/** The same with a service, `luma`, and its admin; returns the access to it. */
export async function installWithAccess(environment: Environment): Promise<Credentials> {
  const template = await getTemplate('luma', async home => {
    const access = await createServiceAccess(await install({ DATA_DIR: home }))
    writeFileSync(join(home, 'access'), JSON.stringify(access))
  })
  copyTemplate(template, environment)
  return JSON.parse(readFileSync(join(environment.DATA_DIR ?? '', 'access'), 'utf8'))
}

/** The directory of a PostgreSQL whose database is there already. For tests whose subject is not how one is made. */
export async function createPostgresHome(t: TestContext): Promise<string> {
  const { DATA_DIR } = await install({ DATA_DIR: join(createTemporaryDirectory(t), 'data') })
  return join(DATA_DIR, 'postgres')
}

/** Returns a template by its name. Creates it if it doesn't exist; of concurrent creations one stays. */
async function getTemplate(name: string, make: (home: string) => Promise<unknown>): Promise<string> {
  const path = join(templates, name)
  if (existsSync(path)) return path
  const draft = mkdtempSync(join(templates, 'new-'))
  chmodSync(draft, 0o711)
  const home = join(draft, name)
  await make(home)
  try {
    renameSync(home, path)
    return path
  } catch {
    return existsSync(path) ? path : home
  }
}

function copyTemplate(template: string, { DATA_DIR: home = '' }: Environment) {
  mkdirSync(dirname(home), { recursive: true, mode: 0o711 })
  const { status, stderr } = spawnSync('cp', ['-a', template, home], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}
