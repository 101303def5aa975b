import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findSkus } from '../../store/catalog/skus.ts'

/** Returns the ID of the SKU that vouchers are sold as. Returns undefined if `giftCardSku` is not set, or if no product has that SKU. */
export async function findGiftCardSkuId(db: Db, service: Service): Promise<string | undefined> {
  const { giftCardSku } = service.settings
  const [sku] = giftCardSku === null ? [] : await findSkus(db, service, [giftCardSku])
  return sku?.skuId
}
