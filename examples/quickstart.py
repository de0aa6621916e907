"""Five lines from a fitted model to a certified region. Run: python examples/quickstart.py"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer(as_frame=True)
X = data.data[["mean radius", "mean texture", "mean smoothness", "mean concavity"]]
y = data.target.map({0: "malignant", 1: "benign"})
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)

# --- the five lines ---------------------------------------------------------------------------------------------------
from elbowroom import Box, Explainer, Space  # noqa: E402

space = Space.from_frame(X)
explainer = Explainer(model, space)
region = explainer.explain(X.iloc[0], room=Box(0.02))
print(region)
