// Stable top-k: the k largest, of equals the first.

/** The places of the k largest of x (n,), falling; of equals, the first comes first. */
export function stableTopK(x, k) {
  const best = [];
  for (let n = 0; n < x.length; n++) {
    if (best.length === k && x[n] <= x[best[k - 1]]) continue;
    let rank = best.length;
    while (rank > 0 && x[best[rank - 1]] < x[n]) rank--;
    best.splice(rank, 0, n);
    if (best.length > k) best.pop();
  }
  return best;
}
