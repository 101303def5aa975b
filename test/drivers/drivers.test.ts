import { after, before, suite } from 'node:test'
import { firstReleases } from '../../simulator/world/release.ts'
import { isAtLeast } from '../../src/domain/values/release.ts'
import { customerContract } from './customers.ts'
import { orderNameContract } from './order-names.ts'
import { quoteContract } from './quotes.ts'
import { readContract } from './reads.ts'
import { missingReturnContract, returnContract } from './returns.ts'
import { saleContract } from './sales.ts'
import { drivers, type Shop } from './shop.ts'
import { trialContract } from './trials.ts'
import { voucherContract } from './vouchers.ts'

/** One contract for every driver, tested over HTTPS. The driver behind the API makes no difference to a caller. */
for (const { name, release, open } of drivers)
  suite(name, () => {
    let shop: Shop
    before(async () => {
      shop = await open()
    })
    after(() => shop.stop())
    // First, since later ones change what is there.
    readContract(() => shop)
    customerContract(() => shop)
    voucherContract(() => shop)
    saleContract(() => shop)
    quoteContract(() => shop)
    orderNameContract(() => shop)
    const contractOfReturns = isAtLeast(release, firstReleases.returns) ? returnContract : missingReturnContract
    contractOfReturns(() => shop)
    trialContract(() => shop)
  })
