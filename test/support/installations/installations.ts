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

/** The folder with the templates, of the whole run, or of this file if it runs alone. */
const templates = process.env.TEST_INSTALLATIONS ?? createDirectory()

/**
 * Creates the DATA_DIR of an installation without a service by copying a template, which is faster than a first start.
 * Not for tests of the first start.
 */
export async function install<T extends Environment>(environment: T): Promise<T> {
  copyTemplate(await getTemplate('empty', home => runSuccessfully(['migrate'], { DATA_DIR: home })), environment)
  return environment
}

/** Creates the DATA_DIR of an installation with the service `luma` and its admin. Returns the admin's credentials. */
export async function installWithAccess(environment: Environment): Promise<Credentials> {
  const template = await getTemplate('luma', async home => {
    const access = await createServiceAccess(await install({ DATA_DIR: home }))
    writeFileSync(join(home, 'access'), JSON.stringify(access))
  })
  copyTemplate(template, environment)
  return JSON.parse(readFileSync(join(environment.DATA_DIR ?? '', 'access'), 'utf8'))
}

/** Creates the directory of a PostgreSQL with an initialised database. Not for tests of the initialisation. */
export async function createPostgresHome(t: TestContext): Promise<string> {
  const { DATA_DIR } = await install({ DATA_DIR: join(createTemporaryDirectory(t), 'data') })
  return join(DATA_DIR, 'postgres')
}

/** Returns the path of a template. Creates the template if it doesn't exist. If several processes create it at the same time, the first one wins. */
async function getTemplate(name: string, create: (home: string) => Promise<unknown>): Promise<string> {
  const path = join(templates, name)
  if (existsSync(path)) return path
  const draft = mkdtempSync(join(templates, 'new-'))
  chmodSync(draft, 0o711)
  const home = join(draft, name)
  await create(home)
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
