import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Access } from './api.ts'
import { type RunningProgram, runProgram, startProgram } from './processes.ts'
import type { Voucher } from './shop.ts'

/** An installation that was started for this run. */
export interface Installation {
  access: Access
  /** A service whose back office is older than 2022.1, and in which no gift voucher is configured. */
  old: Access
  /** The certificate authority, in PEM. */
  ca: string
  voucher: Voucher
  mails: () => Promise<string>
  ship: ((orderId: string) => Promise<void>) | undefined
  stop(): Promise<void>
}

const cli = 'src/cli.js'
const oldRelease = '2021.3'

/** Starts the demo on a separate database. With `simulator`, the back office is a simulated Apparel21. */
export async function startInstallation({ simulator }: { simulator: boolean }): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), 'tillbridge-specification-'))
  const running: RunningProgram[] = []
  const stop = async () => {
    for (const server of running.toReversed()) await server.stop()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const backOffice = simulator ? await startSimulator(running) : undefined
    const environment = { DATA_DIR: join(home, 'data'), PORT: '0', LOG_LEVEL: 'warn', ...backOffice?.environment }
    running.push(await startProgram(cli, ['start'], environment, 'Press Ctrl-C to stop.'))
    const accessFile = JSON.parse(await readFile(join(home, 'data/access.json'), 'utf8'))
    const access = {
      url: accessFile.baseUrl,
      apiKey: Buffer.from(`${accessFile.username}:${accessFile.password}`).toString('base64'),
      service: accessFile.serviceName,
    }
    const settings = backOffice?.settings ?? []
    if (settings.length) await runProgram(cli, ['service', 'set', access.service, ...settings], environment)
    await runProgram(cli, ['service', 'add', 'old', `backOfficeVersion=${oldRelease}`], environment)
    if (backOffice) {
      await runProgram(cli, ['back-office', 'set', 'old', ...backOffice.old], environment)
      await importFiles(home, access.service, environment)
    }
    const output = await runProgram(
      cli,
      ['account', 'add', 'old', '--service', 'old', '--role', 'maintainer'],
      environment,
    )
    const apiKey = /^API key: (\S+)$/m.exec(output)?.[1] ?? ''
    return {
      access,
      old: { url: access.url, apiKey, service: 'old' },
      ca: await readFile(accessFile.caFile, 'utf8'),
      voucher: backOffice?.voucher ?? { number: '9100001', pin: '204816' },
      mails: backOffice?.mails ?? (() => readFolder(join(home, 'data/mail'))),
      ship: backOffice?.ship,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Imports the records that Apparel21 has only in files, and maps a store. Waits until the stores are synced. */
async function importFiles(home: string, service: string, environment: Record<string, string>) {
  const tillbridge = (...args: string[]) => runProgram(cli, [...args, '--service', service], environment)
  const importText = async (type: string, text: string) => {
    const path = join(home, `${type}.csv`)
    await writeFile(path, text)
    await tillbridge('import', type, path)
  }
  const codes = ['ADA', 'BO', 'CY', 'DI', 'EVE']
  const staff = codes.map((code, i) => `${9_001 + i},${code},${code},Lee,${code.toLowerCase()}@example.com\n`)
  await importText('staff', `id,code,firstname,surname,email\n${staff.join('')}`)
  const sale = 'phone-1,2024-05-10 09:30:00,headOffice,1,1,10.00\n'
  await importText('transactions', `id,saleDate,channel,lineId,quantity,price\n${sale}`)
  for (let tries = 0; ; tries++) {
    const [store = ''] = (await tillbridge('export', 'stores')).split('\n')
    const storeId = store.startsWith('{') && JSON.parse(store).storeId
    if (storeId) return importText('store-mapping', `storeId,ecommerceLocationId\n${storeId},88001\n`)
    if (tries >= 100) throw new Error('the stores were not synced')
    await delay(300)
  }
}

async function readFolder(folder: string) {
  const names = await readdir(folder).catch(() => [])
  return (await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))).join('\n')
}

/** Starts the simulator. Returns the settings of a service that uses it, and functions that change its records. */
async function startSimulator(running: RunningProgram[]) {
  const simulator = await startProgram('simulator/main.ts', ['--port', '0'], {}, 'Press Ctrl-C to stop.')
  running.push(simulator)
  const url = /BACK_OFFICE_URL=(\S+)/.exec(simulator.readOutput())?.[1] ?? ''
  const control = /^Control: +(\S+?)\/?$/m.exec(simulator.readOutput())?.[1] ?? ''
  async function sendChange(change: object) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${control}/changes`, { method: 'POST', headers, body: JSON.stringify(change) })
    if (!response.ok) throw new Error(`the simulator: ${response.status} ${await response.text()}`)
  }
  return {
    environment: {
      BACK_OFFICE: 'apparel21',
      BACK_OFFICE_URL: url,
      BACK_OFFICE_COUNTRY: 'AU',
      BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
    },
    settings: [
      'gateways=visa',
      'oversell=allow',
      'vouchersEnabled=true',
      'giftCardSku=9001',
      'voucherType=GV_EMAIL',
      'timeZone=Australia/Melbourne',
    ],
    old: ['driver=apparel21', `url=${url}`, 'country=AU', `version=${oldRelease}`],
    voucher: { number: '6000001', pin: '1234' },
    mails: async () => {
      await sendChange({ kind: 'allot-vouchers' })
      return (await fetch(`${control}/mail`)).text()
    },
    ship: (orderId: string) => sendChange({ kind: 'despatch-order', id: Number(orderId) }),
  }
}
