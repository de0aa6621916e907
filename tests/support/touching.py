"""A question whose closest centre touches, within rounding, a scenario that the search knows already.

A whole column, a column with a tiny scale, costs that differ by a factor of 400, three classes. The weights are those of a
trained network: rounding any of them gives another question.
"""

from __future__ import annotations

import base64
import warnings
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elbowroom import Feature, Group, Space

_NUMBERS = (  # mean and deviation of 8 columns, two layers with their biases, the row
    "(@kO!SUC(p(@kO!SUChhMNNQUl|Hq<sz!?)qs5=TVCB#v+xgx<8!z1?27%Q-gTTt6MYhvFVh~t4w8+*!L~CB{x@Z(YRj+O@jqLe9"
    "FT}zSeKYPq0shjsmy+c^%Q3L~&HLX!KR=nq%sSpb>MV)Z@r&I*#FzMn=%n61RYdpj*3HE~?!iX2;AYZ4C{Mv^LF~Ujim@QATFRh5"
    "B~n(_!HjUfnZ`P;r|+Xbq%{IwBK3>EL9rBj`6AUn50pN3?|k4tNI;fEPlTYqKR4LcnmW!ux`4fm8(ynFlW0|>izmWAPQQ<CCKBC0"
    ";5QMV&+F2^sN!0FJS^J3>TPGW1*6-)9t`ziG~CKRu>)1h8dT9gnSSW7-dNZ_Tz`8&Q!?T|+UISDPORELE>5D=yF0zVh`(uT#Q)Pj"
    "ebf<if)>laMp&q)yULfp5sGjE`=!sn!ZtRmTgcEqlH6d&^whmSbPX@uS^~Ad8N(LZleN~rTR#UnT4&HdHyQYPFgL-!py;yrAj*_K"
    "WpaJ_BJ$I}|ASrgiCJ>LCwNzWl~ch#+o$@dHEFs(<boZAhfLK!NBSJF^7_9&wmww9@}QnSX)7X9>utP0A+Mr{)+ft9t+FQ>sa)2-"
    "zGhUekwMfy6_}`oE75|#kf=xkX6C`aBHu7?M62DubCPgdrz5_<CMA043W}OPLqXua4`H~!;{|HvFBPJ{yKfS+i^JeQT5XFag1Fwl"
    "614UF^VGq=y8M!mqM6&j6DC9TIM0|r9dfk$h#9=UzppbhkG{n}v9@o4kxJUXm2Zzx?ta|Asrwy-WXs*Z`Js)F(rv&$ry62t_4?Ys"
    "{Ze(!qPp3?BDKhjf4HJQVXu9mBg4x-Hf-LsRpZdVLF(>=j8@M-Y`kl0+*{DUNN#cu;nCthfOQ)wZvwSH=%{A@XBFK)n5bPK_iDvI"
    "t$?)~5Cg$KMiy?Ul0@6TcYKepos`bM6D>eG0#Dq(7p*4CV^!3@=j~`f_*}`qHsc`(F%YW1Gzt$KEaa0v&sh@j<Ac+`1E{*G%a6T3"
    "!r<S+*p<gW5SdxaX_(i)8keaNrZK}mFrauos084@;ibt!9&gG&#FQhvw-w<(wmhPd5-QZc_KxLg*;~&){ZC$wBp}JZR9e}Xu&K&F"
    "wj0L|D-qPcMt~Qx21(n$Um9-;RQrxUqU?>I3Qpp`Z9|UN)j8ikS2v1`XqDc-Y_B<1kh;Y`#4FxG3{uCxS=jqVy1>gnHTZR$t2Ey~"
    "06;_mg;Bx3wVoi>xInr;FWY}*e1nuf$9w>WAV#h~4}aM4<{!qtA8AoxVLakL)ZN}6W{ao4@#OU*4~o-2+<CLV;K9*9W@n>ns5Z&J"
    "A7+HjmRZg}&7DSB{@1O)k@am$Q&QAF2UETNT5iZc=^Xnp-Wbw9^*+#+dvV7<F^Tg~967{4iY}!gzd^dc%nVX4(Ujdk@wct5%Fm`h"
    ">7%2uHHn2kWOBiivxK}q1Y?%d=1SMUm*5V2BRkB$;A1km6SBfTuRg81AT`v#Mj1QL7b><tK*zp$2AsCPuw^JNdK%xqHo7@$y#dC*"
    "T6f)ZNQuHfY03Ka7e%x`jRLSgLV2e@tqDItNHexSJlb4#Aw<kS$$_P`VSs!;5n5c!T*BEuF;+}`$KIa5%w~X%-to4-rbB&9(OcL*"
    "KATJ)Sr)}VS(tFZ3BAKVnT;_?GOX3V_&Zuv>H69~4(xw6q$9vTcbc_QG^x}-6I5-<c8k)#&qsggl$_T;X!)IgLc-9$ylYq5QjNMl"
    "V4H((e)QMBvx&}<XBX2yQ(jnADI?WCzFuw@Sp$+ke3)_8R*$;Bcym}l)5hPw@E|+$%#O)Fh>=jp1(Lr%w@R<@F0j!*$;1ltA{Eg;"
    "h$eZ`DJbASgB_Zrpi|mEonv-4Q6k~LndG*0`1hK>E>Lh}tCQ0|L+O4Q`d`Ptkfp5eGbO`6*J-s&h56XO9H3}923E?yC(B7IJm}WH"
    "xd_P#Vmik^;v4^=d*Z;qm^z2a5FEt6w^vUCuA$mL9!4*n@K@JAeL|KoU{lt=`kndK_4eGq_Q(lJyoSj?nh(=B<jcT69#Z>mC;QvK"
    "DznzHDXif?P1N?7`3%ZG`qxp?^me>IwlhNo5cRY_+*Y82oBzN+M=K4z9ofpi^}f@jNd&mRcH4HoDz(zTzR3ox67JZ)U1eflQQg}="
    ")^*&?vGLSDN)`1<3w6LhlYZ!n2IbSg4%-JemHXJg@1+)>PJ!6J#pm{Z@WjQxa^)#Tuv@vm)=s6~dNk2L^|lYvpW4O0>fyh=LPXfV"
    "XLBw<Wvt!5lB~t01w!G!Xf@KNi;2-c%V<zn&tb^FcBD}a-P@5rchQ7&C%xc5YtM&!NzLRxPiPN-cADG2aF)_F@6D+{jb<KH-C5Yb"
    "dzlrWD>B-@RKV@_44>9NPcYeJa{b1?o!-T2ec{5tNv5=yP|mtP&CF`#T!7g>SVnyV<i4ao#fyi))i~NeW4@f+SyR5hOUm@YTD-_V"
    "6zFl@Z$8z(n+K=MPL$$5b>e-rBQLZ+g(AS7h3nS8$GpKq%eK}(OtvBQJ=xSh)Q-oii003~^s79@hr-CeAVPOu%cX|D$4*C)!sX+?"
    "7RmP_Mtj}As8rpZKsBhpczTt@%@t@rMWZViL3_JDD4XlS4DZvwO~9uCK+vkc@B0AlsKnYoIC{zr40YbWq`9Ys${)Eu00000000m`"
    "0000000000=5=AGA%oJt6Yo^;K0)g~00000008hm00000008hm00000000000000000000"
)
_COLUMNS = (  # name, kind, lower, upper, direction, scale, weight
    ("f0", "integer", -5.0, 11.0, "decreasing", 3.586517553100931, 4.748781894050708),
    ("f1", "numeric", 0.0, 5.0, "increasing", 1.6666666666666667, 1.0),
    ("f2", "numeric", -0.8778666204878948, 0.344046464685577, "any", 1.9453427054028223, 1.0),
    ("f3", "numeric", -np.inf, np.inf, "any", 1.963524220472844e-05, 1.0),
    ("f4", "binary", 0.0, 1.0, "any", 0.12547755171735714, 362.3498185628509),
    ("f5", "binary", 0.0, 1.0, "any", 1.0, 1.0),
    ("f6", "binary", 0.0, 1.0, "any", 1.0, 1.0),
    ("f7", "binary", 0.0, 1.0, "any", 1.0, 1.0),
)
DISTANCE = 0.33119  # of the closest centre for target 0, Diamond(0.05) and the Euclidean distance


def touching() -> tuple[Any, Space, np.ndarray]:
    """The model, the space and the row."""
    numbers = np.frombuffer(base64.b85decode("".join(_NUMBERS))).copy()
    mean, scale, first, first_bias, second, second_bias, row = np.split(numbers, np.cumsum([8, 8, 160, 20, 60, 3]))
    X = np.arange(48.0).reshape(6, 8) % 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one step of training: the weights are replaced
        model = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=1)).fit(X, [0, 1, 2, 0, 1, 2])
    model[0].mean_, model[0].scale_ = mean, scale
    model[1].coefs_, model[1].intercepts_ = [first.reshape(8, 20), second.reshape(20, 3)], [first_bias, second_bias]
    features = tuple(
        Feature(name, kind, low, high, direction=direction, scale=unit, weight=price)
        for name, kind, low, high, direction, unit, price in _COLUMNS
    )
    return model, Space(features, (Group("g", ("f5", "f6", "f7")),)), row
