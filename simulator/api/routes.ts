import type { Route } from '../http/router.ts'
import { allFreightOptions, priceCart } from './carts.ts'
import { redeemCoupon, releaseCoupon } from './coupons.ts'
import { freestockOfAll, freestockOfColour, freestockOfSku, freestockOfStyle } from './freestock.ts'
import { createOrder } from './order-post.ts'
import { allOrders, orderByNumber, orderOfPerson, ordersOfPerson } from './orders.ts'
import { createPerson, updatePerson } from './person-write.ts'
import { findPersons, onePerson, personTemplates, personTimeStamp } from './persons.ts'
import {
  allProducts,
  allSimpleProducts,
  distinct,
  futurePrices,
  noData,
  noTemplates,
  oneProduct,
  oneSimpleProduct,
  productNotes,
} from './products.ts'
import { allReferenceTypes, oneReferenceType, referencesByType, typesOf } from './references.ts'
import { createReturn, deleteReturn, oneReturn } from './returns.ts'
import { confirmRedemption, redeem, reverseRedemption } from './reward-redemptions.ts'
import { createAccount, updateAccount } from './reward-writes.ts'
import { accountTransactions, oneAccount, rewardPrograms } from './rewards.ts'
import { shipmentsOfOrder } from './shipments.ts'
import { stockChanged } from './stock-changed.ts'
import { allStores, oneStore } from './stores.ts'
import { retailTransactions } from './transactions.ts'
import { lockVoucher, lookUpVoucher, notLicensed, validateVoucher } from './vouchers.ts'

const get = (path: string, handle: Route['handle'], since?: Route['since']): Route => ({
  method: 'GET',
  path,
  handle,
  ...(since && { since }),
})

const colours = distinct('Colours', 'Colour', style => style.colours.map(({ code, name }) => ({ code, name })))
const sizes = distinct('Sizes', 'Size', style =>
  style.colours.flatMap(({ skus }) => skus.map(({ size, sizeName }) => ({ code: size, name: sizeName }))),
)

/**
 * The API's table of contents; what is fixed stands before what has an id. The list of coupons, ReferenceTree, the issue
 * of rewards and the redemption of gifts exist in the real one and are knowingly not here: a 404 page.
 */
export const routes: readonly Route[] = [
  get('/Stores', allStores),
  get('/Stores/{id}', oneStore),

  get('/Products', allProducts),
  get('/Products/FuturePrices', futurePrices, 'futurePrices'),
  get('/Products/CustomDataTemplates', noTemplates, 'productCustomData'),
  get('/Products/CustomDataTemplates/{name}', noTemplates, 'productCustomData'),
  get('/Products/{id}', oneProduct),
  get('/Products/{id}/YouMightLikeProducts', noData),
  get('/ProductsSimple', allSimpleProducts),
  get('/ProductsSimple/{id}', oneSimpleProduct),
  get('/ProductNotes/{id}', productNotes),
  get('/ProductColourNotes/{id}', noData),
  get('/ProductReferenceTypes', typesOf('product', 'ProductReferenceTypes', { id: 1, name: 'Product' })),
  get('/ProductColourReferenceTypes', typesOf('colour', 'ProductColourReferenceTypes', { id: 21, name: 'Colour' })),
  get('/Colours', colours),
  get('/Sizes', sizes),

  get('/Freestock/style/{id}', freestockOfStyle),
  get('/Freestock/clr/{id}', freestockOfColour),
  get('/Freestock/sku/{id}', freestockOfSku),
  get('/Freestock/AllStyles', freestockOfAll, 'allStyles'),
  get('/Freestock/AllStyles/{storeId}', freestockOfAll, 'allStyles'),
  get('/StockChanged', stockChanged),

  get('/ReferenceTypes', allReferenceTypes),
  get('/ReferenceTypes/{id}', oneReferenceType),
  get('/References/{typeId}', referencesByType),
  get('/References/{typeId}/{id}', referencesByType),
  get('/PersonReferenceTypes', typesOf('person', 'PersonReferenceTypes', { id: 12, name: 'Person' })),

  get('/Persons', findPersons),
  { method: 'POST', path: '/Persons', handle: createPerson },
  get('/Persons/CustomDataTemplates', personTemplates),
  get('/Persons/CustomDataTemplates/{name}', personTemplates),
  get('/Persons/{id}', onePerson),
  { method: 'PUT', path: '/Persons/{id}', handle: updatePerson },
  get('/Persons/{id}/UpdateTimeStamp', personTimeStamp),
  get('/Persons/{id}/RetailTransactions', retailTransactions),

  get('/Orders', allOrders, 'ordersOfEveryone'),
  get('/Orders/{number}', orderByNumber),
  get('/OrderNumbers/{number}', orderByNumber),
  get('/Persons/{id}/Orders', ordersOfPerson),
  { method: 'POST', path: '/Persons/{id}/Orders', handle: createOrder },
  get('/Persons/{id}/Orders/{order}', orderOfPerson),
  get('/Persons/{id}/Shipments/{order}', shipmentsOfOrder),
  { method: 'POST', path: '/Persons/{id}/Orders/{order}/Returns', handle: createReturn, since: 'returns' },
  get('/Persons/{id}/Orders/{order}/Returns/{return}', oneReturn, 'returns'),
  { method: 'DELETE', path: '/Returns/{return}', handle: deleteReturn, since: 'returns' },

  { method: 'PUT', path: '/Carts/{id}', handle: priceCart },
  get('/FreightOptions', allFreightOptions, 'freightOptions'),

  { method: 'POST', path: '/Coupons/Redemptions', handle: redeemCoupon, since: 'coupons' },
  { method: 'DELETE', path: '/Coupons/Redemptions/{requestId}', handle: releaseCoupon, since: 'coupons' },

  get('/Voucher/{number}', lookUpVoucher),
  get('/Voucher/GVValid/{number}', validateVoucher),
  { method: 'PUT', path: '/Voucher/Lock/{number}', handle: lockVoucher },
  get('/Vouchers/VouchersSimple', notLicensed, 'simpleFeeds'),

  get('/Rewards/Programs', rewardPrograms),
  get('/Rewards/Programs/{id}', rewardPrograms),
  { method: 'POST', path: '/Rewards/Accounts', handle: createAccount },
  get('/Rewards/Accounts/{id}', oneAccount),
  { method: 'PUT', path: '/Rewards/Accounts/{id}', handle: updateAccount },
  get('/Rewards/Accounts/{id}/Transactions', accountTransactions),
  { method: 'POST', path: '/Rewards/Accounts/{id}/Points/Redemptions', handle: redeem('points') },
  { method: 'POST', path: '/Rewards/Accounts/{id}/Rewards/Redemptions', handle: redeem('rewards') },
  { method: 'POST', path: '/Rewards/Confirmation', handle: confirmRedemption },
  { method: 'POST', path: '/Rewards/Reversal', handle: reverseRedemption },
  get('/Rewards/RewardsSimple', notLicensed, 'simpleFeeds'),
  get('/Rewards/ExpiredRewardsSimple', notLicensed, 'expiredRewards'),
]
