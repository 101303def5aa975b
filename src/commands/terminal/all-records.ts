import type { Service } from '../../domain/tenancy/service-settings.ts'
import { exportPages } from '../../http/streaming/export-chunks.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'

/** The records of all pages of a list. */
export async function everyRecord<T>(service: Service, page: (asked: PageRequest) => Promise<Page>): Promise<T[]> {
  const { chunks } = await exportPages(
    service,
    work => work(),
    async asked => ({ page: await page(asked), meta: {} }),
  )
  const lines = (await Array.fromAsync(chunks)).join('').split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line))
}
